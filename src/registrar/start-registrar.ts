import { loadProtos } from "../grpc/protos";
import { refuseAborted } from "../options/start-options";
import { type RegistrarOptions, resolveOptions } from "./options";
import { registerDriver } from "./register-driver";
import type { Registration } from "./registration/registration";

/**
 * Registers the CSI driver behind `options.csiAddress` with kubelet and keeps it registered. Resolves as soon as it is
 * at work: the driver may come later, `ready` resolves when kubelet has registered it. Ended by `close()`, by `signal`,
 * by kubelet's refusal with policy `exit`, or by a failure.
 *
 * Rejects with INVALID_OPTION, and with ABORTED where it was stopped before. Whatever fails later is in `closed`.
 *
 * @example
 * await using registrar = await startRegistrar({
 *   csiAddress: "/csi/csi.sock",
 *   kubeletRegistrationPath: "/var/lib/kubelet/plugins/disk.example.com/csi.sock",
 *   logger: console,
 * });
 * await registrar.ready;
 */
export async function startRegistrar(options: RegistrarOptions): Promise<Registration> {
  const { signal, logger: log, ...resolved } = resolveOptions(options);
  refuseAborted("the registrar", signal);
  return registerDriver(resolved, { signal, log, protos: loadProtos() });
}
