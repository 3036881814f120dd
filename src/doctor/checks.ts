import { DIRECTORY_CHECKS } from "./directory-checks";
import { DRIVER_CHECKS } from "./driver-checks";
import type { Facts } from "./facts";
import type { Check, Finding } from "./finding";
import { REGISTRATION_CHECKS } from "./registration-checks";

/** Every question, in the order in which one thing needs the other: the driver, the way, the registration. */
export const CHECKS: readonly Check[] = [...DRIVER_CHECKS, ...DIRECTORY_CHECKS, ...REGISTRATION_CHECKS];

/** What the facts mean. */
export function examine(facts: Facts): readonly Finding[] {
  return CHECKS.flatMap((check) => check.findings(facts));
}
