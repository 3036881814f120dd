import type { StateName } from "../registrar/model/state";
import type { Registration } from "../registrar/registration/registration";
import { only, type Registrations } from "../registrar/registration/registrations";

/** The state of a registration, as far as a node's readiness depends on it. */
export interface ObservedRegistration {
  /**
   * The name under which it is being registered. Undefined until the driver answers, and while another driver has the
   * name or the registrar does not accept it: another registrar decides about that driver.
   */
  readonly driverName: string | undefined;
  /** `gone`: the driver left the node and has no registration. */
  readonly state: StateName | "gone";
  /** When the state last changed to `registered`, in milliseconds since the epoch. */
  readonly registeredAtMs: number | undefined;
  /** Kubelet's error, if it refused the driver. */
  readonly kubeletError: string | undefined;
  /**
   * Makes kubelet register the driver again, and so write CSINode. Returns false if kubelet is about to do so.
   * Absent for DRA drivers and device plugins, which CSINode does not list.
   */
  readonly reregister?: (() => boolean) | undefined;
}

/** Registrations at this moment, and a call after each change of them. */
export interface ObservedRegistrations {
  readonly scope: Registrations["scope"];
  all(): readonly ObservedRegistration[];
  subscribe(listener: () => void): () => void;
}

/** Observes what a start returned; undefined for anything else. */
export function observeRegistrations(given: Registration | Registrations): ObservedRegistrations | undefined {
  const { all, subscribe, reregister } = Object(given) as Partial<Registration & Registrations>;
  if (typeof subscribe !== "function") return undefined;
  if (typeof reregister === "function") return observeAll(only(given as Registration));
  return Array.isArray(all) ? observeAll(given as Registrations) : undefined;
}

export function observeAll(registrations: Registrations): ObservedRegistrations {
  return {
    scope: registrations.scope,
    all: () =>
      registrations.all.map((registration) => {
        const { state, history, counters } = registration.status();
        return {
          driverName: registration.name,
          state,
          registeredAtMs: history.findLast(({ to }) => to === "registered")?.atMs,
          kubeletError: counters.kubeletError,
          reregister: registration.type === "CSIPlugin" ? registration.reregister : undefined,
        };
      }),
    subscribe: (listener) =>
      registrations.subscribe(({ kind }) => {
        if (kind === "state-changed" || kind === "driver-answered") listener();
      }),
  };
}
