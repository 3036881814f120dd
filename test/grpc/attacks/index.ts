import type { Attack } from "./attack";
import { CALL_ATTACKS } from "./call-attacks";
import { CONNECTION_ATTACKS } from "./connection-attacks";
import { HEADER_ATTACKS } from "./header-attacks";

/** By what they have in common, which is a row of a table in docs/security.md. */
export const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  ...CONNECTION_ATTACKS,
  ...HEADER_ATTACKS,
  ...CALL_ATTACKS,
};
