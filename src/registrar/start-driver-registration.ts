import { createDriver, type DriverContext } from "./driver/driver";
import { createRegistrationEvents } from "./model/events";
import type { ResolvedRegistrarOptions } from "./model/options";
import {
  type Registration,
  type RegistrationParts,
  startRegistrationLoop,
} from "./registration/registration";

type DriverStartContext = Pick<RegistrationParts, "log" | "signal"> & Pick<DriverContext, "admit">;

/** What `startRegistrar` does, with options that were read; the sidecar leaves the judgement of its endpoint to kubelet. */
export function startDriverRegistration(
  options: ResolvedRegistrarOptions,
  { signal, log, ...follow }: DriverStartContext,
): Registration {
  const events = createRegistrationEvents(log);
  const driver = createDriver(options, { log, events, ...follow });
  return startRegistrationLoop(options, { driver, events, log, signal });
}
