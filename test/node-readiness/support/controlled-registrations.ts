import type { Keeper, Pass } from "../../../src/node-readiness/keeper";
import type { NodeApi } from "../../../src/node-readiness/node-api";
import type {
  ObservedRegistration,
  ObservedRegistrations,
} from "../../../src/node-readiness/observed-registrations";

export const DRIVER = "disk.csi.example.com";

type State = ObservedRegistration["state"];

export const registrationIn = (
  state: State,
  driverName: string | undefined = DRIVER,
): ObservedRegistration => ({
  driverName,
  state,
  registeredAt: state === "registered" ? Date.now() : undefined,
  refusal: state === "refused" ? "topology clash" : undefined,
});

/** A keeper's pass: the wait until the next, or why it failed. */
export async function passOf(
  keeper: Keeper<unknown>,
  registrations: readonly ObservedRegistration[],
  { api, ...given }: Omit<Pass, "api" | "signal"> & { readonly api?: object },
) {
  const { signal } = new AbortController();
  const answer = await keeper.pass(registrations, { ...given, api: Object(api) as NodeApi, signal });
  return answer.kind === "done" ? answer.value : answer;
}

/** Makes registrations whose states a test sets; at first there is one, which waits for kubelet. */
export function createRegistrations() {
  const byName = new Map([[DRIVER, registrationIn("listening")]]);
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const observed: ObservedRegistrations = {
    all: () => [...byName.values()],
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    ...observed,
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
