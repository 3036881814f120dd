import {
  type NodeReadinessOptions,
  resolveNodeReadinessOptions,
} from "../../../../src/node-readiness/options";
import {
  type NodeReadiness,
  type NodeReadinessPace,
  runNodeReadiness,
} from "../../../../src/node-readiness/run-node-readiness";
import { type RecordedLog, recordLog } from "../../../support/recorded-log";
import { type ControlledRegistrations, createRegistrations } from "../../support/controlled-registrations";
import type { Cluster } from "./cluster";

/** Node readiness of one node at a real API server, over registrations that a test controls. */
export interface Keeper extends AsyncDisposable {
  readonly registrations: ControlledRegistrations;
  readonly log: RecordedLog;
  readonly readiness: NodeReadiness;
}

/** Starts it on node-1, with the rights of a pod there. */
export async function startKeeper(
  cluster: Cluster,
  { pace, ...options }: Partial<NodeReadinessOptions> & { readonly pace?: NodeReadinessPace } = {},
): Promise<Keeper> {
  const registrations = createRegistrations();
  const log = recordLog();
  const readiness = runNodeReadiness(
    registrations,
    resolveNodeReadinessOptions({
      nodeName: "node-1",
      access: options.access ?? (await cluster.accessFrom("node-1")),
      startupTaints: ["{driver}/agent-not-ready"],
      ...options,
    }),
    { log: log.logger, pace },
  );
  return { registrations, log, readiness, [Symbol.asyncDispose]: readiness.close };
}
