import { loadProtos } from "../grpc/protos";
import { silentLogger } from "../logging/logger";
import { type RegistrarOptions, resolveOptions } from "./options";
import { registerDriver } from "./register-driver";
import type { Registration } from "./registration/registration";
import { refuseAborted, type StartContext } from "./start-context";

/**
 * Registers the CSI driver behind `options.csiAddress` with kubelet and keeps it registered. Resolves as soon as it is
 * at work: the driver may come later, `ready` resolves when kubelet has registered it. Ended by `close()`, by `signal`,
 * by kubelet's refusal with policy `exit`, or by a failure.
 *
 * Rejects with INVALID_OPTION, and with ABORTED where it was stopped before. Whatever fails later is in `closed`.
 */
export async function startRegistrar(
  options: RegistrarOptions,
  { signal, logger = silentLogger }: StartContext = {},
): Promise<Registration> {
  const resolved = resolveOptions(options);
  refuseAborted(signal);
  return registerDriver(resolved, { signal, log: logger, protos: loadProtos() });
}
