import type { DriverFacts } from "./facts";
import { socketText } from "./words";

/** Why a driver that was found has no registration socket, as far as the driver itself tells. */
export function reasonText({ socket, identity }: DriverFacts): string {
  if (socket.kind !== "accepting") return socketText(socket);
  if (identity.kind === "failed") return `GetPluginInfo: ${identity.code}: ${identity.message}`;
  return "the driver answers; no registrar has published it";
}
