import { invalidOption, messageOf } from "../base/errors";
import type { NodeReadinessTarget } from "../doctor/node/read/node-readiness";
import { nodeReadinessTargetsOf } from "../flags/checks";
import type { Flags } from "../flags/table";
import { type ApiAccess, type Environment, inClusterAccess } from "../kube-api/access";
import type { Logger } from "../logging/logger";
import { parseConditionType } from "../node-readiness/condition";
import { observeRegistrations } from "../node-readiness/observed-registrations";
import { NODE_NAME_VARIABLES, resolveNodeReadinessOptions } from "../node-readiness/options";
import { type NodeReadiness, startNodeReadiness } from "../node-readiness/start-node-readiness";
import { parseStartupTaint } from "../node-readiness/startup-taint";
import type { Registrations } from "../registrar/registration/registrations";

/** Checks what needs the environment, and returns the function that starts it. Rejects with INVALID_OPTION. */
export async function prepareNodeReadiness(
  flags: Pick<
    Flags,
    "removeStartupTaint" | "nodeCondition" | "every" | "nodeConditionDelayMs" | "impersonateNode" | "nodeName"
  >,
  environment: Environment,
): Promise<(registrations: Registrations, log: Logger) => NodeReadiness> {
  const options = {
    ...nodeReadinessTargetsOf(flags),
    nodeName: nodeNameFrom(flags.nodeName, environment),
    access: await accessFrom(environment),
    conditionDelayMs: flags.nodeConditionDelayMs,
    impersonateNode: flags.impersonateNode,
  };
  resolveNodeReadinessOptions(options);
  return (registrations, logger) =>
    startNodeReadiness(observeRegistrations(registrations), options, { logger });
}

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

export function nodeNameFrom(flag: string, environment: Environment): string {
  const name = flag || NODE_NAME_VARIABLES.map((variable) => environment[variable]).find(Boolean);
  if (name) return name;
  throw invalidOption(
    "--remove-startup-taint and --node-condition need the node's name: give --node-name, or set NODE_NAME from " +
      "fieldRef spec.nodeName",
  );
}

/** From the kubeconfig that KUBECONFIG names, else from the pod's service account. */
export async function accessFrom(environment: Environment): Promise<ApiAccess> {
  const { KUBECONFIG: file } = environment;
  if (!file) return inClusterAccess(environment);
  const { readKubeconfig } = await import("./kubeconfig");
  return readKubeconfig(file);
}
