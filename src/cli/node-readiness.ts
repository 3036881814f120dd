import { invalidOption } from "../base/errors";
import { showNodeReadiness } from "../diagnostics/node-readiness";
import { nodeReadinessOptionsOf } from "../flags/node-readiness";
import type { Flags } from "../flags/table";
import { type Environment, inClusterAccess } from "../kube-api/access";
import type { Logger } from "../logging/logger";
import { observeAll } from "../node-readiness/observed-registrations";
import { NODE_NAME_VARIABLES, parseNodeName } from "../node-readiness/options";
import { runNodeReadiness } from "../node-readiness/start-node-readiness";
import type { Registrations } from "../registrar/registration/registrations";

/** Checks its flags and the environment, and returns the function that starts it. Rejects with INVALID_OPTION. */
export async function prepareNodeReadiness(flags: Flags, environment: Environment) {
  const { KUBECONFIG: file } = environment;
  const options = {
    ...nodeReadinessOptionsOf(flags),
    nodeName: parseNodeName(nodeNameFrom(flags.nodeName, environment)),
    access: file
      ? await (await import("../kube-api/read-kubeconfig")).readKubeconfig(file)
      : inClusterAccess(environment),
  };
  return async (given: Registrations, logger: Logger) => {
    const registrations = observeAll(given);
    const started = runNodeReadiness({ ...options, registrations, logger });
    return { shown: showNodeReadiness(started.status), [Symbol.asyncDispose]: started[Symbol.asyncDispose] };
  };
}

/** The node that the flag names, or the environment. Throws INVALID_OPTION without either. */
function nodeNameFrom(flag: string, environment: Environment): string {
  const name = flag || NODE_NAME_VARIABLES.map((variable) => environment[variable]).find(Boolean);
  if (name) return name;
  throw invalidOption(
    "--remove-startup-taint and --node-condition need the node's name: give --node-name, or set NODE_NAME from " +
      "fieldRef spec.nodeName",
  );
}
