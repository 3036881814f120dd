import { resolveNodeReadinessOptions } from "../../../../src/node-readiness/options";
import { runNodeReadiness } from "../../../../src/node-readiness/start-node-readiness";
import { recordLog } from "../../../support/recorded-log";
import { createRegistrations } from "../../support/controlled-registrations";
import { type FixtureOptions, QUICK_PACE } from "../../support/fixture";
import type { Cluster } from "./cluster";

/** Starts node readiness of node-1, with the rights of a pod there, over registrations that a test controls. */
export async function startKeeper(cluster: Cluster, { pace = QUICK_PACE, ...options }: FixtureOptions = {}) {
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
