import { invalidOption } from "../base/errors";
import { quoteText } from "../logging/escape";
import { parseConditionType } from "./condition";
import { DRIVER_PLACEHOLDER } from "./driver-template";
import { parseStartupTaint } from "./startup-taint";

/** Checks the taints and the condition, without the API server. Throws INVALID_OPTION. */
export function parseTargets(given: {
  readonly startupTaints: readonly string[];
  readonly condition?: string | undefined;
  readonly severalDrivers: boolean;
}) {
  const startupTaints = given.startupTaints.map(parseStartupTaint);
  const condition = given.condition === undefined ? undefined : parseConditionType(given.condition);
  if (given.severalDrivers) requireDriverPlaceholder(given.startupTaints, given.condition);
  return { startupTaints, condition };
}

/** Throws INVALID_OPTION for a taint or a condition without `{driver}`. */
function requireDriverPlaceholder(startupTaints: readonly string[], condition: string | undefined): void {
  const check = (what: string, text: string, example: string) => {
    if (text.includes(DRIVER_PLACEHOLDER)) return;
    const advice = `write ${DRIVER_PLACEHOLDER} for the driver's name, as in ${DRIVER_PLACEHOLDER}/${example}`;
    throw invalidOption(`${what} ${quoteText(text)} is one for several drivers: ${advice}`);
  };
  for (const taint of startupTaints) check("startup taint", taint, "agent-not-ready");
  if (condition !== undefined) check("node condition", condition, "Registered");
}
