import type { Logger } from "../logging/logger";
import type { Registrations } from "../registrar/registrations";
import { createChecksRoute, createHealthRoute } from "./health";
import { livenessChecks, readinessChecks } from "./health-checks";
import type { ProcessFacts } from "./metric-table";
import { createMetricsRoute } from "./metrics";
import { checkMetricsPath, type FIXED_PATHS } from "./metrics-path";
import { nodeReadinessCheck, type ViewNodeReadiness } from "./node-readiness";
import { createProfilingRoutes } from "./pprof";
import type { Route } from "./server";
import { createStatusRoute } from "./statusz";

/** What is served on the HTTP endpoint. */
export interface RoutesOptions {
  /** Path of the metrics, beginning with `/`; none of the other paths. */
  readonly metricsPath: string;
  /** Not ready while the driver is away. */
  readonly requireDriver: boolean;
  /** The command line to show under /debug/pprof/; undefined serves no profiles. */
  readonly profiledCommandLine: readonly string[] | undefined;
  /** The node's readiness, if this process keeps it. */
  readonly nodeReadiness?: ViewNodeReadiness | undefined;
}

/** Every path of the HTTP endpoint; all of them only read. Throws INVALID_OPTION where the metrics would not be found. */
export function createRoutes(
  registrations: Registrations,
  { metricsPath, requireDriver, profiledCommandLine, nodeReadiness }: RoutesOptions,
  { log, facts }: { readonly log: Logger; readonly facts: ProcessFacts },
): ReadonlyMap<string, Route> {
  checkMetricsPath(metricsPath, { isProfiled: profiledCommandLine !== undefined });
  const nodeChecks = nodeReadiness === undefined ? [] : [nodeReadinessCheck(nodeReadiness)];
  const fixed: Readonly<Record<(typeof FIXED_PATHS)[number], Route>> = {
    "/healthz": createHealthRoute(registrations, log),
    "/livez": createChecksRoute("livez", livenessChecks),
    "/readyz": createChecksRoute("readyz", (driver) => [
      ...readinessChecks(registrations, { requireDriver, driver }),
      ...nodeChecks,
    ]),
    "/statusz": createStatusRoute(registrations, facts, nodeReadiness),
  };
  return new Map<string, Route>([
    ...Object.entries(fixed),
    ...(profiledCommandLine ? createProfilingRoutes(profiledCommandLine) : []),
    [metricsPath, createMetricsRoute(registrations, facts, nodeReadiness)],
  ]);
}
