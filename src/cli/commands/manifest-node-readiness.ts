import type { Manifest } from "../../manifest/manifest";
import { withNodeReadiness } from "../../manifest/node-readiness";
import { parseConditionType } from "../../node-readiness/condition";
import { requireDriverPlaceholder } from "../../node-readiness/options";
import { parseStartupTaint } from "../../node-readiness/startup-taint";
import { listFlag, switchFlag, textFlag } from "../command-flags";
import type { FlagValues } from "../command-line";

/** What both manifests have for a node's readiness. */
export const readinessFlags = {
  "startup-taint": listFlag("taint that the registrar removes, repeatable: KEY, KEY:Effect", String),
  "node-condition": textFlag("type of a condition of the node that the registrar keeps"),
} as const;

/** Only where the driver is known. */
export const readinessRuleFlag = {
  "node-readiness-rule": {
    ...switchFlag("with --node-condition: a NodeReadinessRule"),
    implies: "node-condition",
  },
} as const;

type ReadinessValues = Partial<FlagValues<typeof readinessFlags & typeof readinessRuleFlag>>;

/** Adds what the registrar needs for the node's readiness, where that is wanted. Throws INVALID_OPTION. */
export function addNodeReadiness(
  manifests: readonly Manifest[],
  { startupTaint = [], nodeCondition, nodeReadinessRule = false }: ReadinessValues,
  driverName?: string,
): readonly Manifest[] {
  const startupTaints = startupTaint.map(parseStartupTaint);
  const condition = nodeCondition === undefined ? undefined : parseConditionType(nodeCondition);
  if (startupTaints.length === 0 && condition === undefined) return manifests;
  if (driverName === undefined) requireDriverPlaceholder(startupTaint, nodeCondition);
  const readinessRule = nodeReadinessRule;
  return withNodeReadiness(manifests, { startupTaints, condition, driverName, readinessRule });
}
