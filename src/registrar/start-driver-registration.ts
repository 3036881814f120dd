import { createDriver, type DriverContext } from "./driver/driver";
import { type Hold, holdDriver } from "./driver/hold";
import { createRegistrationEvents } from "./model/events";
import type { ResolvedRegistrarOptions } from "./model/options";
import {
  type Registration,
  type RegistrationParts,
  startRegistrationLoop,
} from "./registration/registration";

interface DriverStartContext extends Pick<RegistrationParts, "log" | "signal">, Pick<DriverContext, "admit"> {
  /** @default the driver is asked at once */
  readonly hold?: Hold | undefined;
}

/** What `startRegistrar` does, with options that were read; the sidecar leaves the judgement of its endpoint to kubelet. */
export function startDriverRegistration(
  options: ResolvedRegistrarOptions,
  { signal, log, hold, ...follow }: DriverStartContext,
): Registration {
  const events = createRegistrationEvents(log);
  const driver = createDriver(options, { log, events, ...follow });
  const held = hold ? holdDriver(driver, hold) : driver;
  return startRegistrationLoop(options, { driver: held, events, log, signal });
}
