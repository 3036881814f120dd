import { invalidOption } from "../base/errors";
import { showNodeReadiness } from "../diagnostics/node-readiness";
import { nodeReadinessOptionsOf } from "../flags/node-readiness";
import type { Flags } from "../flags/table";
import { type Environment, inClusterAccess } from "../kube-api/access";
import type { Logger } from "../logging/logger";
import { NODE_NAME_VARIABLES, resolveNodeReadinessOptions } from "../node-readiness/options";
import { startNodeReadiness } from "../node-readiness/start-node-readiness";
import type { Registrations } from "../registrar/registration/registrations";

const NONE_YET: Registrations = { scope: "one-driver", all: [], subscribe: () => () => {} };

/** Checks its flags and the environment, and returns the function that starts it. Rejects with INVALID_OPTION. */
export async function prepareNodeReadiness(flags: Flags, environment: Environment) {
  const { KUBECONFIG: file } = environment;
  const options = {
    ...nodeReadinessOptionsOf(flags),
    nodeName: nodeNameFrom(flags.nodeName, environment),
    access: file
      ? await (await import("../kube-api/read-kubeconfig")).readKubeconfig(file)
      : inClusterAccess(environment),
  };
  resolveNodeReadinessOptions({ ...options, registrations: NONE_YET });
  return async (registrations: Registrations, logger: Logger) => {
    const started = await startNodeReadiness({ ...options, registrations, logger });
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
