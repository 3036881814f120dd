import { invalidOption } from "../base/errors";
import type { StateName } from "../registrar/model/state";
import type { Registrations } from "../registrar/registrations";

/** Where a registration stands, as far as a node's readiness depends on it. */
export interface ObservedRegistration {
  /**
   * The name under which it is being registered. Undefined before the driver told it, and for as long as another driver
   * has the name or the name is not to be registered here: that driver is for somebody else to judge.
   */
  readonly driverName: string | undefined;
  /** `gone`: the driver left the node, and no registration is left. */
  readonly state: StateName | "gone";
  /** When kubelet last changed its mind to "registered", in milliseconds since the epoch. */
  readonly registeredAt: number | undefined;
  /** Kubelet's words, where it refused. */
  readonly refusal: string | undefined;
  /**
   * Makes kubelet register the driver anew, and so write CSINode; false where kubelet is at it already, and nothing was
   * done. Absent where CSINode is not where kubelet lists the plugin: it has no DRA drivers and no device plugins.
   */
  readonly reregister?: (() => boolean) | undefined;
}

/** Registrations to listen to. All that is ever asked of them is `reregister`. */
export interface ObservedRegistrations {
  /** Whether there may be several drivers. Default: of one driver. */
  readonly scope?: Registrations["scope"] | undefined;
  all(): readonly ObservedRegistration[];
  /** Calls `listener` after something changed; returns what ends that. */
  subscribe(listener: () => void): () => void;
}

/** The registrations of a process, or of one driver (`only`). Throws INVALID_OPTION for what is neither. */
export function observeRegistrations(registrations: Registrations): ObservedRegistrations {
  const { all, subscribe } = Object(registrations) as Partial<Registrations>;
  const areTheirs = Array.isArray(all) && all.every((one) => typeof one?.subscribe === "function");
  if (typeof subscribe !== "function" || !areTheirs)
    throw invalidOption(
      "observeRegistrations takes a node-wide registrar, or only(registration) of a registration that was awaited",
    );
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
          reregister: registration.options.type === "CSIPlugin" ? registration.reregister : undefined,
        };
      }),
    subscribe: (listener) =>
      registrations.subscribe(({ kind }) => {
        if (kind === "state-changed" || kind === "driver-answered") listener();
      }),
  };
}
