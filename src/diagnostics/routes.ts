import type { Logger } from "../logging/logger";
import type { Registrations } from "../registrar/registrations";
import { createChecksRoute, createHealthRoute } from "./health";
import { readinessChecks } from "./health-checks";
import type { ProcessFacts } from "./metric-table";
import { createMetricsRoute } from "./metrics";
import { checkMetricsPath, type FIXED_PATHS } from "./metrics-path";
import { nodeReadinessCheck, type ViewNodeReadiness } from "./node-readiness";
import { createProfilingRoutes } from "./pprof";
import type { Route } from "./server";
import { createStatusRoute } from "./statusz";

export interface RoutesOptions {
  /** Begins with `/` and differs from the other paths. */
  readonly metricsPath: string;
  /** Not ready without a connection to the driver. */
  readonly requireDriver: boolean;
  /** The command line to show under /debug/pprof/; undefined serves no profiles. */
  readonly profiledCommandLine: readonly string[] | undefined;
  /** Undefined without node readiness. */
  readonly nodeReadiness?: ViewNodeReadiness | undefined;
}

/** Every path of the HTTP endpoint; none changes anything. Throws INVALID_OPTION for a bad path of the metrics. */
export function createRoutes(
  registrations: Registrations,
  { metricsPath, requireDriver, profiledCommandLine, nodeReadiness }: RoutesOptions,
  { log, facts }: { readonly log: Logger; readonly facts: ProcessFacts },
): ReadonlyMap<string, Route> {
  checkMetricsPath(metricsPath, { isProfiled: profiledCommandLine !== undefined });
  const nodeChecks = nodeReadiness === undefined ? [] : [nodeReadinessCheck(nodeReadiness)];
  const fixed: Readonly<Record<(typeof FIXED_PATHS)[number], Route>> = {
    "/healthz": createHealthRoute(registrations, log),
    // Nothing outside of this process may fail it: a liveness probe would restart the registrar.
    "/livez": createChecksRoute("livez", () => [{ name: "ping", run: async () => undefined }]),
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
