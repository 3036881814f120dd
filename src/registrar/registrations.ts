import type { RegistrarEvent } from "./model/events";
import type { Registration } from "./registration/registration";

/** What happens to one of several registrations, and to which. */
export type RegistrationsEvent = RegistrarEvent & { readonly registration: Registration };

/** The registrations of one process, to look at: one of a sidecar, or one for each driver of a node. */
export interface Registrations {
  readonly scope: "one-driver" | "node-wide";
  /** Those that there are now, in the order in which they came. */
  readonly all: readonly Registration[];
  /** Calls `listener` for everything that happens to any of them from now on; returns what ends that. */
  subscribe(listener: (event: RegistrationsEvent) => unknown): () => void;
}

/** A single registration, to look at as one of one. */
export function only(registration: Registration): Registrations {
  return {
    scope: "one-driver",
    all: [registration],
    subscribe: (listener) => registration.subscribe((event) => listener({ ...event, registration })),
  };
}
