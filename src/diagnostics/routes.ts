import type { Logger } from "../logging/logger";
import type { Fleet } from "../registrar/fleet";
import { livenessChecks, readinessChecks } from "./checks";
import { createChecksRoute, createHealthRoute } from "./health";
import type { ProcessFacts } from "./metric-table";
import { createMetricsRoute } from "./metrics";
import { createProfilingRoutes } from "./pprof";
import type { Route } from "./server";
import { createStatusRoute } from "./statusz";

/** What is served on the HTTP endpoint. */
export interface RoutesOptions {
  /** Path of the metrics. */
  readonly metricsPath: string;
  /** Not ready while the driver is away. */
  readonly requireDriver: boolean;
  /** The command line to show under /debug/pprof/; undefined serves no profiles. */
  readonly profiledCommandLine: readonly string[] | undefined;
}

/** Every path of the HTTP endpoint; all of them only read. */
export function createRoutes(
  fleet: Fleet,
  { metricsPath, requireDriver, profiledCommandLine }: RoutesOptions,
  { log, facts }: { readonly log: Logger; readonly facts: ProcessFacts },
): ReadonlyMap<string, Route> {
  return new Map<string, Route>([
    ["/healthz", createHealthRoute(fleet, log)],
    ["/livez", createChecksRoute("livez", livenessChecks)],
    ["/readyz", createChecksRoute("readyz", (driver) => readinessChecks(fleet, { requireDriver, driver }))],
    ["/statusz", createStatusRoute(fleet, facts)],
    [metricsPath, createMetricsRoute(fleet, facts)],
    ...(profiledCommandLine ? createProfilingRoutes(profiledCommandLine) : []),
  ]);
}
