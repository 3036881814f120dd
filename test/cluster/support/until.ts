import { eventually } from "../../support/eventually";

/** As {@link eventually}, with the patience that parts of a cluster need. */
export const until = <Value>(attempt: () => Value | Promise<Value>, what: string, limitMs = 180_000) =>
  eventually(attempt, { what, limitMs });
