import type { CsiNodeView, NodeView } from "../../../src/node-readiness/node-api";
import type {
  ObservedRegistration,
  ObservedRegistrations,
} from "../../../src/node-readiness/observed-registrations";

export const DRIVER = "disk.csi.example.com";

type State = ObservedRegistration["state"];

export const registrationIn = (state: State, driverName: string | undefined = DRIVER) => ({
  driverName,
  state,
  registeredAtMs: state === "registered" ? Date.now() : undefined,
  kubeletError: state === "refused" ? "topology clash" : undefined,
});

/** What is read of a Node with these fields. */
export const nodeWith = (fields: Partial<NodeView> = {}): NodeView => ({
  ...{ uid: "1", resourceVersion: "1", taints: [], conditions: [] },
  ...fields,
});

/** What is read of a CSINode that lists these drivers. */
export const csiNodeOf = (drivers: readonly string[], ownerUid?: string): CsiNodeView => ({
  drivers,
  ownerUid,
});

/** Makes registrations whose states a test sets; at first there is one, which waits for kubelet. */
export function createRegistrations() {
  const byName = new Map([[DRIVER, registrationIn("listening")]]);
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const observed: ObservedRegistrations = {
    scope: "one-driver",
    all: () => [...byName.values()],
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    ...observed,
    countListeners: () => listeners.size,
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
