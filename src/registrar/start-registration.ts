import { loadProtos } from "../grpc/protos";
import { silentLogger } from "../logging/logger";
import { admitDriverName } from "./driver/driver-name";
import { createEvents, type RegistrarEvent } from "./events";
import { type RegistrationOptions, resolveRegistrationOptions } from "./options";
import { errorOf } from "./registration/outcome";
import { openRegistration, type Registration } from "./registration/registration";
import { refuseAborted, type StartContext } from "./start-context";

/**
 * Registers a driver that runs in this process with kubelet, and keeps it registered: the registrar without a sidecar,
 * and without a driver to wait for, so that the events of one (`driver-call`, `driver-answered`, `driver-lost`) do not
 * occur. Resolves when the registration socket is in place for kubelet to find; `ready` resolves when kubelet has
 * registered the driver. Ended by `close()`, by `signal`, by kubelet's refusal with policy `exit`, or by a failure.
 *
 * Rejects, and leaves nothing behind, with INVALID_OPTION, with UNSAFE_DRIVER_NAME for a name that could leave the
 * directory, with SOCKET_UNUSABLE where the socket cannot be put there, with ABORTED where it was stopped before.
 */
export async function startRegistration(
  options: RegistrationOptions,
  { signal, logger = silentLogger }: StartContext = {},
): Promise<Registration> {
  const { name, endpoint: kubeletRegistrationPath, ...common } = resolveRegistrationOptions(options);
  const log = logger.named("start-registration");
  admitDriverName(name, log);
  refuseAborted(signal);
  const events = createEvents<RegistrarEvent>();
  const published = new Promise<undefined>((resolve) => {
    const unsubscribe = events.subscribe(({ kind }) => {
      if (kind !== "published") return;
      unsubscribe();
      resolve(undefined);
    });
  });
  const registration = openRegistration(
    { ...common, kubeletRegistrationPath },
    {
      csiAddress: undefined,
      followDriver: async (inbox) => inbox.put({ kind: "driver-named", driverName: name }),
      driver: () => ({
        identity: { name, vendorVersion: "", manifest: {} },
        connected: true,
        trouble: undefined,
      }),
      events,
      protos: loadProtos(),
      log,
      signal,
    },
  );
  const ended = await Promise.race([published, registration.closed]);
  if (ended) throw errorOf(ended);
  return registration;
}
