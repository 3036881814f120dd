import { nodeNameFrom, nodeReadinessTargetsOf } from "../flags/checks";
import type { Flags } from "../flags/table";
import { type Environment, inClusterAccess } from "../kube-api/access";
import type { Logger } from "../logging/logger";
import { resolveNodeReadinessOptions } from "../node-readiness/options";
import { type NodeReadiness, startNodeReadiness } from "../node-readiness/start-node-readiness";
import type { Registrations } from "../registrar/registration/registrations";

const NONE_YET: Registrations = { scope: "one-driver", all: [], subscribe: () => () => {} };

/** Checks what needs the environment, and returns the function that starts it. Rejects with INVALID_OPTION. */
export async function prepareNodeReadiness(
  flags: Flags,
  environment: Environment,
): Promise<(registrations: Registrations, log: Logger) => Promise<NodeReadiness>> {
  const { KUBECONFIG: file } = environment;
  const options = {
    ...nodeReadinessTargetsOf(flags),
    nodeName: nodeNameFrom(flags.nodeName, environment),
    access: file
      ? await (await import("../kube-api/read-kubeconfig")).readKubeconfig(file)
      : inClusterAccess(environment),
    conditionDelayMs: flags.nodeConditionDelayMs,
  };
  resolveNodeReadinessOptions({ ...options, registrations: NONE_YET });
  return (registrations, logger) => startNodeReadiness({ ...options, registrations, logger });
}
