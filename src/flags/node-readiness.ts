import { messageOf } from "../base/errors";
import { resolveLogging } from "../logging/logging-options";
import { parseTargets } from "../node-readiness/options";
import { isNodeWide } from "./paths";
import { endpointOf, portsProblem, registrationOf } from "./start-options";
import type { Flags } from "./table";

/** The options of node readiness that its flags give. Throws INVALID_OPTION. */
export function nodeReadinessOptionsOf(flags: Flags) {
  const { removeStartupTaint: startupTaints, nodeConditionDelayMs: conditionDelayMs } = flags;
  const condition = flags.nodeCondition || undefined;
  return {
    ...parseTargets({ startupTaints, condition, severalDrivers: isNodeWide(flags) }),
    conditionDelayMs,
  };
}

/** Why the registrar would not start with these flags; undefined if it would. Required ones may be missing. */
export function startProblemOf(flags: Flags): string | undefined {
  const logging = resolveLogging(flags);
  if (logging.kind === "invalid") return `LoggingConfiguration is invalid: ${logging.error}`;
  try {
    endpointOf(flags);
    registrationOf(flags, { ...flags, endpoint: flags.kubeletRegistrationPath });
    nodeReadinessOptionsOf(flags);
    return portsProblem(flags);
  } catch (error) {
    return messageOf(error);
  }
}
