import { invalidOption } from "../../base/errors";
import type { NodeAccessOptions } from "../../manifest/node-access";
import { POLICY_MINOR } from "../../manifest/node-policy";
import { parseConditionType } from "../../node-readiness/condition";
import { requireDriverPlaceholder } from "../../node-readiness/options";
import { parseStartupTaint } from "../../node-readiness/startup-taint";
import { listFlag, switchFlag, textFlag } from "../command-flags";
import type { FlagValues } from "../command-line";

export const readinessFlags = {
  "startup-taint": listFlag("taint that the registrar removes, repeatable: KEY, KEY:Effect", String),
  "node-condition": textFlag("type of a condition of the node that the registrar keeps"),
  "kubernetes-version": textFlag(`the cluster's version, if it is before 1.${POLICY_MINOR}`),
  unconfined: {
    ...switchFlag(`before 1.${POLICY_MINOR}: rights for every node, as no policy confines them`),
    implies: "kubernetes-version",
  },
  "node-readiness-rule": {
    ...switchFlag("with --node-condition: a NodeReadinessRule"),
    implies: "node-condition",
  },
} as const;

type ReadinessValues = FlagValues<typeof readinessFlags>;

/** What the registrar needs for the node's readiness; undefined if not requested. Throws INVALID_OPTION. */
export function nodeAccessFrom(
  values: ReadinessValues,
  { drivers, isNodeWide }: { readonly drivers: readonly string[] | undefined; readonly isNodeWide: boolean },
): NodeAccessOptions | undefined {
  const { startupTaint = [], nodeCondition, nodeReadinessRule: readinessRule = false } = values;
  const startupTaints = startupTaint.map(parseStartupTaint);
  const condition = nodeCondition === undefined ? undefined : parseConditionType(nodeCondition);
  const isUnconfined = isWithoutPolicy(values);
  if (startupTaints.length === 0 && condition === undefined) return undefined;
  if (isNodeWide) requireDriverPlaceholder(startupTaint, nodeCondition);
  return { startupTaints, condition, drivers, readinessRule, isUnconfined };
}

function isWithoutPolicy({ kubernetesVersion, unconfined = false }: ReadinessValues): boolean {
  if (kubernetesVersion === undefined) return false;
  const [, minor] = /^v?1\.(\d+)(?:\.|$)/.exec(kubernetesVersion) ?? [];
  if (minor === undefined)
    throw invalidOption(
      `--kubernetes-version "${kubernetesVersion}" is no version of Kubernetes: write 1.${POLICY_MINOR}`,
    );
  const isOld = Number(minor) < POLICY_MINOR;
  if (isOld && !unconfined)
    throw invalidOption(
      `Kubernetes 1.${minor} has no ValidatingAdmissionPolicy v1, which confines a registrar to its own node from ` +
        `1.${POLICY_MINOR} on; --unconfined writes rights for every node`,
    );
  if (!isOld && unconfined)
    throw invalidOption(
      `--unconfined is for clusters before 1.${POLICY_MINOR}: a policy confines the registrar here`,
    );
  return isOld;
}
