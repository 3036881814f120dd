import type { Events } from "../../base/event-source";
import type { RegistrationEvent } from "../model/events";
import type { Registration } from "./registration";

/** What happened, and to which registration. */
export type NodeRegistrarEvent = RegistrationEvent & { readonly registration: Registration };

/** The registrations of one process: one of a sidecar, or one for each driver of a node. */
export interface Registrations extends Pick<Events<NodeRegistrarEvent>, "subscribe"> {
  /** Whether it serves the drivers of a node or one. */
  readonly scope: "one-driver" | "node-wide";
  /** The present registrations, oldest first. */
  readonly all: readonly Registration[];
}

export function only(registration: Registration): Registrations {
  const subscribe = registration.subscribe as (...given: unknown[]) => () => void;
  const hearing = (given: unknown) =>
    typeof given === "function" ? (event: RegistrationEvent) => given({ ...event, registration }) : given;
  return {
    scope: "one-driver",
    all: [registration],
    subscribe: (...given: unknown[]) => subscribe(...given.map(hearing)),
  };
}
