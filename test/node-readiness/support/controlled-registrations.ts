import type {
  ObservedRegistration,
  ObservedRegistrations,
} from "../../../src/node-readiness/observed-registrations";

export const DRIVER = "disk.csi.example.com";

/** Registrations whose states a test sets. */
export interface ControlledRegistrations extends ObservedRegistrations {
  set(state: ObservedRegistration["state"], driverName?: string): void;
  remove(driverName: string): void;
  /** The drivers that were to be registered anew, in order. */
  readonly reregistered: readonly string[];
}

/** Makes one registration in a state, of a driver. */
export function registrationIn(
  state: ObservedRegistration["state"],
  driverName: string | undefined = DRIVER,
): ObservedRegistration {
  return {
    driverName,
    state,
    registeredAt: state === "registered" ? Date.now() : undefined,
    refusal: state === "refused" ? "topology clash" : undefined,
  };
}

/** Makes registrations, of which there is one at first: kubelet has not called. */
export function createRegistrations(): ControlledRegistrations {
  const byName = new Map([[DRIVER, registrationIn("listening")]]);
  const listeners = new Set<() => void>();
  const reregistered: string[] = [];
  const tell = () => {
    for (const listener of listeners) listener();
  };
  return {
    all: () =>
      [...byName].map(([name, registration]) => ({
        ...registration,
        reregister: () => reregistered.push(name) > 0,
      })),
    reregistered,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set: (state, driverName = DRIVER) => {
      byName.set(driverName, registrationIn(state, driverName));
      tell();
    },
    remove: (driverName) => {
      byName.delete(driverName);
      tell();
    },
  };
}
