import type { NodeAnswer, NodeApi } from "../../../src/node-readiness/node-api";
import type { NodeStore } from "../../../src/node-readiness/node-watch";
import type {
  ObservedRegistration,
  ObservedRegistrations,
} from "../../../src/node-readiness/observed-registrations";

export const DRIVER = "disk.csi.example.com";

type State = ObservedRegistration["state"];

/** A registration in a state, of a driver. */
export const registrationIn = (
  state: State,
  driverName: string | undefined = DRIVER,
): ObservedRegistration => ({
  driverName,
  state,
  registeredAt: state === "registered" ? Date.now() : undefined,
  refusal: state === "refused" ? "topology clash" : undefined,
});

/** What a keeper is given for one pass. */
export const passOf = (
  store: NodeStore,
  now: number,
  listedDrivers: () => Promise<NodeAnswer<readonly string[]>>,
  api: object = {},
) => ({ store, now, listedDrivers, api: api as NodeApi, signal: new AbortController().signal });

export type ControlledRegistrations = ReturnType<typeof createRegistrations>;

/** Makes registrations whose states a test sets; at first there is one, which waits for kubelet. */
export function createRegistrations() {
  const byName = new Map([[DRIVER, registrationIn("listening")]]);
  const listeners = new Set<() => void>();
  const reregistered: string[] = [];
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const observed: ObservedRegistrations = {
    all: () =>
      [...byName].map(([name, registration]) => ({
        ...registration,
        reregister: () => reregistered.push(name) > 0,
      })),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    ...observed,
    /** The drivers that were registered anew, in order. */
    reregistered: reregistered as readonly string[],
    set: (state: State, driverName = DRIVER) => {
      byName.set(driverName, registrationIn(state, driverName));
      tell();
    },
    remove: (driverName: string) => {
      byName.delete(driverName);
      tell();
    },
  };
}
