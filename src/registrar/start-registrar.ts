import { refuseAborted } from "../options/start-options";
import { resolveOptions } from "./model/library-options";
import type { RegistrarOptions } from "./model/options";
import type { Registration } from "./registration/registration";
import { startDriverRegistration } from "./start-driver-registration";
import { warnIfUnheard } from "./warn-if-unheard";

/**
 * Registers the CSI driver behind `options.csiAddress` with kubelet and keeps it registered. Resolves at once: the
 * driver may come later, `ready` resolves when kubelet has registered it. Ended by `close()`, by `signal`, by kubelet's
 * refusal with policy `end`, or by a failure.
 *
 * Rejects with INVALID_OPTION, and with ABORTED where it was stopped before. A later failure is in `closed`.
 *
 * @example
 * await using registrar = await startRegistrar({
 *   csiAddress: "/csi/csi.sock",
 *   endpoint: "/var/lib/kubelet/plugins/disk.example.com/csi.sock",
 *   logger: console,
 * });
 * await registrar.ready;
 */
export async function startRegistrar(options: RegistrarOptions): Promise<Registration> {
  const { signal, logger: log, ...resolved } = resolveOptions(options);
  refuseAborted("the registrar", signal);
  return warnIfUnheard(startDriverRegistration(resolved, { signal, log }));
}
