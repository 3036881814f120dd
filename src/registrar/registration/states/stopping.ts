import { failedBy } from "../../model/outcome";
import type { LoopEvent, StateOf } from "../../model/state";
import type { RegistrationContext } from "../context";

/** Calls that run when we stop get this long to finish. */
const GRACE_MS = 2_000;

/** State `stopping`: our socket is removed if it is still ours, then running calls may finish. */
export async function shutDown(
  { outcome }: StateOf<"stopping">,
  { socket, server, log: parentLog }: RegistrationContext,
): Promise<LoopEvent> {
  const log = parentLog.named("stopping");
  let end = outcome;
  const socketPath = socket.path;
  try {
    socket.withdraw();
  } catch (error) {
    log.error(error, "Failed to remove socket with error", { socket: socketPath });
    if (outcome.kind === "stopped") end = failedBy(error);
  }
  await server.close({ graceMs: GRACE_MS });
  return { kind: "closed", outcome: end };
}
