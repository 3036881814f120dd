import { invalidOption } from "../base/errors";
import type { StateName } from "../registrar/model/state";
import type { Registrations } from "../registrar/registration/registrations";

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
  readonly registeredAt: number | undefined;
  /** Kubelet's error, if it refused the driver. */
  readonly refusal: string | undefined;
  /**
   * Makes kubelet register the driver again, and so write CSINode. Returns false if kubelet is about to do so.
   * Absent for DRA drivers and device plugins, which CSINode does not list.
   */
  readonly reregister?: (() => boolean) | undefined;
}

/** Registrations to observe. Node readiness calls only their `reregister`. */
export interface ObservedRegistrations {
  /** Default `one-driver`. */
  readonly scope?: Registrations["scope"] | undefined;
  all(): readonly ObservedRegistration[];
  /** Calls `listener` after each change; returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
}

/** Observes the registrations of a process, or of one driver (`only`). Throws INVALID_OPTION for anything else. */
export function observeRegistrations(registrations: Registrations): ObservedRegistrations {
  const { all, subscribe } = Object(registrations) as Partial<Registrations>;
  const areTheirs = Array.isArray(all) && all.every((one) => typeof one?.subscribe === "function");
  if (typeof subscribe !== "function" || !areTheirs)
    throw invalidOption("observeRegistrations takes a node-wide registrar, or only(registration), awaited");
  return {
    scope: registrations.scope,
    all: () =>
      registrations.all.map((registration) => {
        const { state, history, tally } = registration.status();
        return {
          driverName: registration.name,
          state,
          registeredAt: history.findLast(({ to }) => to === "registered")?.at,
          refusal: tally.refusal,
          reregister: registration.type === "CSIPlugin" ? registration.reregister : undefined,
        };
      }),
    subscribe: (listener) =>
      registrations.subscribe(({ kind }) => {
        if (kind === "state-changed" || kind === "driver-answered") listener();
      }),
  };
}
