import type { GetPluginInfoResponse } from "../grpc/protos";
import { type ResolvedStartOptions, refuseAborted } from "../options/start-options";
import { admitPluginName } from "./driver/driver-name";
import { createRegistrationEvents } from "./model/events";
import { type RegistrationOptions, resolveRegistrationOptions } from "./model/library-options";
import type { ResolvedOptions } from "./model/options";
import { errorOf } from "./model/outcome";
import {
  type Registration,
  type RegistrationParts,
  startRegistrationLoop,
} from "./registration/registration";
import { warnIfUnheard } from "./warn-if-unheard";

/**
 * Registers a driver that runs in this process with kubelet, and keeps it registered: a CSI driver, or with `type` a DRA
 * driver or a device plugin. There is no sidecar and no wait for the driver: `driver-call`, `driver-answered` and
 * `driver-lost` do not occur. Resolves when the registration socket is in place for kubelet to find; `ready` resolves
 * when kubelet has registered the driver. Ended by `close()`, by `signal`, by kubelet's refusal with policy `end`, or by
 * a failure.
 *
 * Rejects, and leaves nothing behind, with INVALID_OPTION, with UNSAFE_DRIVER_NAME for a name that could leave the
 * directory, with SOCKET_UNUSABLE where the socket cannot be put there, with ABORTED where it was stopped before.
 *
 * @example
 * await using registration = await startRegistration({
 *   type: "DRAPlugin",
 *   name: "gpu.example.com",
 *   endpoint: "/var/lib/kubelet/plugins/gpu.example.com/dra.sock",
 *   pluginRegistrationPath: "/var/lib/kubelet/plugins_registry",
 *   supportedVersions: ["v1.DRAPlugin", "v1beta1.DRAPlugin"],
 * });
 * await registration.ready;
 */
export async function startRegistration(
  options: RegistrationOptions,
): Promise<Registration & { readonly name: string }> {
  const resolved = resolveRegistrationOptions(options);
  const registration = await registerPlugin(resolved, { vendorVersion: "", manifest: {} });
  return warnIfUnheard({ ...registration, name: resolved.name });
}

/** The same with options that were read, and what else the driver tells of itself. */
export async function registerPlugin(
  {
    signal,
    logger: log,
    name,
    ...rest
  }: Omit<ResolvedOptions, "isNodeWide"> & ResolvedStartOptions & { readonly name: string },
  told: Omit<GetPluginInfoResponse, "name">,
): Promise<Registration> {
  admitPluginName(rest.type, name, log);
  refuseAborted("the registration", signal);
  const events = createRegistrationEvents(log);
  const published = new Promise<undefined>((resolve) => {
    events.subscribe("published", () => resolve(undefined));
  });
  const identity = { ...told, name };
  const driver: RegistrationParts["driver"] = {
    follow: async (inbox) => inbox.put({ kind: "driver-named", driverName: name }),
    status: () => ({ identity, connected: true, trouble: undefined }),
  };
  const registration = startRegistrationLoop({ ...rest, isNodeWide: false }, { driver, events, log, signal });
  const ended = await Promise.race([published, registration.closed]);
  if (ended === undefined) return registration;
  refuseAborted("the registration", signal);
  throw errorOf(ended);
}
