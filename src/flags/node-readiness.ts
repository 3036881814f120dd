import { parseTargets } from "../node-readiness/options";
import { checkWait } from "./checks";
import { isNodeWide } from "./paths";
import type { Flags } from "./table";

/** The options of node readiness that its flags give. Throws INVALID_OPTION. */
export function nodeReadinessOptionsOf(flags: Flags) {
  const { removeStartupTaint: startupTaints, nodeConditionDelayMs: conditionDelayMs } = flags;
  const condition = flags.nodeCondition || undefined;
  checkWait("node-condition-delay", conditionDelayMs);
  parseTargets({ startupTaints, condition, severalDrivers: isNodeWide(flags) });
  return { startupTaints, condition, conditionDelayMs };
}
