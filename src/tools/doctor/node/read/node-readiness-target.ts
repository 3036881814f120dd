import { messageOf } from "../../../../base/errors";
import { nodeNameFrom } from "../../../../flags/checks";
import type { Flags } from "../../../../flags/table";
import type { Environment } from "../../../../kube-api/access";
import { accessFrom } from "../../../../kube-api/access-from-environment";
import { parseConditionType } from "../../../../node-readiness/condition";
import { parseStartupTaint } from "../../../../node-readiness/startup-taint";
import type { NodeReadinessTarget } from "./node-readiness";

/** What doctor asks the API server about. Rejects with INVALID_OPTION for taints and conditions that are refused. */
export async function nodeReadinessTarget(
  flags: Pick<Flags, "removeStartupTaint" | "nodeCondition" | "impersonateNode" | "nodeName">,
  environment: Environment,
): Promise<NodeReadinessTarget> {
  const unknown = (error: unknown) => ({ kind: "unknown" as const, why: messageOf(error) });
  return {
    startupTaints: flags.removeStartupTaint.map(parseStartupTaint),
    hasCondition: flags.nodeCondition !== "" && parseConditionType(flags.nodeCondition) !== "",
    impersonatesNode: flags.impersonateNode,
    nodeName: await Promise.resolve()
      .then(() => ({ kind: "known" as const, name: nodeNameFrom(flags.nodeName, environment) }))
      .catch(unknown),
    access: await accessFrom(environment)
      .then((access) => ({ kind: "known" as const, access }))
      .catch(unknown),
  };
}
