import { failedBy } from "../../model/outcome";
import type { LoopEvent, StateOf } from "../../model/state";
import type { RegistrationContext } from "../context";

const GRACE_MS = 2_000;

/** State `stopping`: removes our socket if it is still ours, then lets running calls finish. */
export async function shutDown(
  { outcome }: StateOf<"stopping">,
  { socket, server, log }: RegistrationContext,
): Promise<LoopEvent> {
  let end = outcome;
  const { path } = socket;
  try {
    await socket.close();
  } catch (error) {
    log.error(error, "Failed to remove socket with error", { socket: path });
    if (outcome.kind === "stopped") end = failedBy(error);
  }
  await server.close({ graceMs: GRACE_MS });
  return { kind: "closed", outcome: end };
}
