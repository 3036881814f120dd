import { refuseAborted } from "../options/start-options";
import { type NodeRegistrarOptions, resolveNodeOptions } from "./node-wide/options";
import { type NodeRegistrar, startNodeRegistrations } from "./start-node-registrations";

/**
 * Registers every driver whose socket fits a pattern. Each has a registration of its own, with its own state, retries
 * and socket: the failure of one does not touch the others. A refusal is retried, never an end. A driver with a living
 * registrar, a sidecar of its own, stays with that one as long as it lives. A driver whose directory goes is deregistered
 * at once; one whose socket goes or refuses connections, after `driverGoneAfterMs`, because it may restart. A driver that
 * comes back under another name is another driver.
 *
 * Rejects with INVALID_OPTION, and with ABORTED where it was stopped before. Ends only by `close()` or `signal`.
 */
export async function startNodeRegistrar(options: NodeRegistrarOptions): Promise<NodeRegistrar> {
  const { signal, logger, ...resolved } = resolveNodeOptions(options);
  refuseAborted("the node-wide registrar", signal);
  return startNodeRegistrations(resolved, { signal, log: logger });
}
