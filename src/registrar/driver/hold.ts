import { unlessAborted } from "../../base/pause";
import type { DriverHealth } from "../model/status";
import type { createDriver } from "./driver";

type Driver = ReturnType<typeof createDriver>;

/** What keeps a driver that was found from being asked for its name. */
export interface Hold {
  /** Resolves, never rejects, when it may be asked. */
  readonly until: Promise<unknown>;
  /** What is known of the driver until then, and why it waits. */
  readonly status: () => Pick<DriverHealth, "identity" | "trouble">;
}

export function holdDriver(driver: Driver, hold: Hold): Driver {
  let isHeld = true;
  return {
    follow: async (inbox, signal) => {
      await unlessAborted(hold.until, signal);
      isHeld = false;
      if (!signal.aborted) await driver.follow(inbox, signal);
    },
    status: () => (isHeld ? { ...hold.status(), connected: false } : driver.status()),
  };
}
