import { hostSocketPath } from "../options/option-kinds";
import { refuseAborted } from "../options/start-options";
import { createDriverEvents, type DriverEventsContext } from "./driver/driver-events";
import { createRegistrarEvents } from "./model/events";
import { type RegistrarOptions, type ResolvedRegistrarOptions, resolveOptions } from "./model/options";
import {
  type Registration,
  type RegistrationParts,
  startRegistrationLoop,
} from "./registration/registration";
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
  hostSocketPath.read(resolved.endpoint, "startRegistrar: endpoint");
  refuseAborted("the registrar", signal);
  return warnIfUnheard(startDriverRegistration(resolved, { signal, log }));
}

type DriverStartContext = Pick<RegistrationParts, "log" | "signal"> & Pick<DriverEventsContext, "admit">;

/** The same with any text as `endpoint`: like the official registrar, it leaves the judgement to kubelet. */
export function startDriverRegistration(
  options: ResolvedRegistrarOptions,
  { signal, log: parentLog, ...follow }: DriverStartContext,
): Registration {
  const log = parentLog.named("registrar");
  const events = createRegistrarEvents(log);
  const driver = createDriverEvents(options, { log, events, ...follow });
  return startRegistrationLoop(options, { driver, events, log, signal });
}
