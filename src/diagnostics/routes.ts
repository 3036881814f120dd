import { RegistrarError } from "../errors";
import type { Logger } from "../logging/logger";
import type { Registrations } from "../registrar/registrations";
import { livenessChecks, readinessChecks } from "./checks";
import { createChecksRoute, createHealthRoute } from "./health";
import type { ProcessFacts } from "./metric-table";
import { createMetricsRoute } from "./metrics";
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
  /** The node's readiness, where somebody keeps it. */
  readonly nodeReadiness?: ViewNodeReadiness | undefined;
}

/** Every path of the HTTP endpoint; all of them only read. Throws INVALID_OPTION where the metrics would not be found. */
export function createRoutes(
  registrations: Registrations,
  { metricsPath, requireDriver, profiledCommandLine, nodeReadiness }: RoutesOptions,
  { log, facts }: { readonly log: Logger; readonly facts: ProcessFacts },
): ReadonlyMap<string, Route> {
  const nodeChecks = nodeReadiness === undefined ? [] : [nodeReadinessCheck(nodeReadiness)];
  const routes = new Map<string, Route>([
    ["/healthz", createHealthRoute(registrations, log)],
    ["/livez", createChecksRoute("livez", livenessChecks)],
    [
      "/readyz",
      createChecksRoute("readyz", (driver) => [
        ...readinessChecks(registrations, { requireDriver, driver }),
        ...nodeChecks,
      ]),
    ],
    ["/statusz", createStatusRoute(registrations, facts, nodeReadiness)],
    ...(profiledCommandLine ? createProfilingRoutes(profiledCommandLine) : []),
  ]);
  checkMetricsPath(metricsPath, [...routes.keys()]);
  return routes.set(metricsPath, createMetricsRoute(registrations, facts, nodeReadiness));
}

function checkMetricsPath(path: string, taken: readonly string[]): void {
  const refuse = (why: string) => {
    throw new RegistrarError("INVALID_OPTION", `metrics-path ${JSON.stringify(path)} ${why}`);
  };
  if (!/^\/[^?#\s]*$/.test(path)) refuse("is no path of a URL: it must begin with /, as /metrics does");
  if (taken.includes(path)) refuse(`is served already; taken are ${taken.join(", ")}`);
}
