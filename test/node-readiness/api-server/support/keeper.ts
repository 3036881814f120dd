import { type FixtureOptions, startReadiness } from "../../support/fixture";
import type { Cluster } from "./cluster";

/** Starts node readiness of node-1, with the rights of a pod there, over registrations that a test controls. */
export async function startKeeper(cluster: Cluster, options: FixtureOptions = {}) {
  const access = options.access ?? (await cluster.accessFrom("node-1"));
  return startReadiness({ startupTaints: ["{driver}/agent-not-ready"], ...options, access });
}
