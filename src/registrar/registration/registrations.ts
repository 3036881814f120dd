import type { RegistrationEvent } from "../model/events";
import type { Registration } from "./registration";

/** What happened, and to which registration. */
export type NodeRegistrarEvent = RegistrationEvent & { readonly registration: Registration };

/** The registrations of one process: one of a sidecar, or one for each driver of a node. */
export interface Registrations {
  /** Whether it serves the drivers of a node or one. */
  readonly scope: "one-driver" | "node-wide";
  /** The present registrations, oldest first. */
  readonly all: readonly Registration[];
  /** Calls `listener` with each event of each registration from now on; the function returned ends that. */
  subscribe(listener: (event: NodeRegistrarEvent) => unknown): () => void;
}

export function only(registration: Registration): Registrations {
  return {
    scope: "one-driver",
    all: [registration],
    subscribe: (listener) => registration.subscribe((event) => listener({ ...event, registration })),
  };
}
