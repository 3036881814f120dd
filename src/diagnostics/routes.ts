import { escapeUnprintable } from "../logging/escape";
import type { Logger } from "../logging/logger";
import type { Registration } from "../registrar/registration/registration";
import type { Registrations } from "../registrar/registration/registrations";
import type { SelfCheck } from "../registrar/registration/self-check";
import type { FIXED_PATHS } from "./endpoint";
import { type HealthCheck, passes, readinessChecks, runChecks } from "./health-checks";
import { textAnswer } from "./http/connection";
import type { Metrics, ProcessFacts } from "./metric-table";
import { createMetricsRoute } from "./metrics";
import { createProfilingRoutes } from "./pprof";
import type { Route } from "./server";
import { createStatusRoute } from "./statusz";

/** What the endpoint shows of node readiness. */
export interface ShownNodeReadiness {
  readonly check: HealthCheck;
  readonly metrics: Metrics;
  /** For `/statusz`. */
  describe(): object;
}

export interface RoutesOptions {
  /** One that `checkMetricsPath` accepts. */
  readonly metricsPath: string;
  readonly requireDriver: boolean;
  /** The command line to show under /debug/pprof/; undefined serves no profiles. */
  readonly profiledCommandLine: readonly string[] | undefined;
  readonly nodeReadiness?: ShownNodeReadiness | undefined;
}

/** Every path of the HTTP endpoint; none changes anything. */
export function createRoutes(
  registrations: Registrations,
  { metricsPath, requireDriver, profiledCommandLine, nodeReadiness }: RoutesOptions,
  { log, facts }: { readonly log: Logger; readonly facts: ProcessFacts },
): ReadonlyMap<string, Route> {
  const fixed: Readonly<Record<(typeof FIXED_PATHS)[number], Route>> = {
    "/healthz": createHealthRoute(registrations, log),
    // Nothing outside of this process may fail it: a liveness probe would restart the registrar.
    "/livez": createChecksRoute("livez", () => [{ name: "ping", run: () => passes() }]),
    "/readyz": createChecksRoute("readyz", (driver) => [
      ...readinessChecks(registrations, { requireDriver, driver }),
      ...(nodeReadiness ? [nodeReadiness.check] : []),
    ]),
    "/statusz": createStatusRoute(registrations, facts, nodeReadiness?.describe),
  };
  return new Map<string, Route>([
    ...Object.entries(fixed),
    ...(profiledCommandLine ? createProfilingRoutes(profiledCommandLine) : []),
    [metricsPath, createMetricsRoute(registrations, facts, log, nodeReadiness?.metrics)],
  ]);
}

/**
 * `/healthz` with the official registrar's statuses and bodies. A liveness probe must not restart a registrar that waits
 * for its driver, or serves another one: no socket is healthy, and one healthy driver of several is enough. Drivers are
 * checked one by one, first the one that passed last, so that a probe costs the same however many there are.
 */
function createHealthRoute(registrations: Registrations, log: Logger): Route {
  let passedLast: Registration | undefined;
  return async () => {
    let failure: Exclude<SelfCheck, { readonly kind: "ok" }> | undefined;
    const { scope, all } = registrations;
    // A node's driver whose registration has ended is leaving, or starts over.
    const running = scope === "node-wide" ? all.filter(({ status }) => !status().outcome) : all;
    for (const one of running.toSorted((a, b) => Number(b === passedLast) - Number(a === passedLast))) {
      const found = await one.selfCheck();
      if (found.kind === "ok") {
        passedLast = one;
        failure = undefined;
        break;
      }
      failure ??= found;
    }
    if (failure === undefined) {
      log.v(5).info("Health check succeeded");
      return textAnswer(200, "ok");
    }
    if (failure.kind === "missing") {
      log.error(undefined, "Health check failed, registration socket does not exist");
      return textAnswer(404, failure.text);
    }
    log.error(new Error(failure.text), "Health check failed");
    return textAnswer(500, escapeUnprintable(failure.text));
  };
}

/** `/livez` and `/readyz` as in Kubernetes' components, with GET and HEAD. `?driver=name` is passed to `checksFor`. */
function createChecksRoute(
  name: string,
  checksFor: (driver: string | null) => readonly HealthCheck[],
): Route {
  return async ({ method, query }) => {
    if (method !== "GET" && method !== "HEAD")
      return textAnswer(405, "method not allowed\n", { allow: "GET, HEAD" });
    const report = await runChecks(name, checksFor(query.get("driver")), query);
    return textAnswer(report.passed ? 200 : 503, report.body);
  };
}
