import { boundText, escapeUnprintable } from "../logging/escape";
import type { Logger } from "../logging/logger";
import type { Registrations } from "../registrar/registrations";
import { type HealthCheck, runChecks } from "./health-checks";
import { textAnswer } from "./http/answer";
import type { Route } from "./server";

/**
 * `/healthz`, drop-in: the official registrar's statuses and bodies, once there is a registration socket. Before that
 * it is healthy too: the official one has no server then, and a liveness probe must not kill a patient process. For
 * the same reason several drivers are unhealthy only together: one's trouble is no cause to restart the others.
 */
export function createHealthRoute(registrations: Registrations, parentLog: Logger): Route {
  const log = parentLog.named("health");
  return async () => {
    const answers = await Promise.all(registrations.all.map(({ selfCheck }) => selfCheck()));
    const found = answers.find(({ kind }) => kind === "ok") ?? answers[0] ?? ({ kind: "ok" } as const);
    switch (found.kind) {
      case "ok":
        log.v(5).info("Health check succeeded");
        return textAnswer(200, "ok");
      case "missing":
        log.error(undefined, "Health check failed, registration socket does not exist");
        return textAnswer(404, found.text);
      case "wrong":
        log.error(new Error(found.text), "Health check failed");
        return textAnswer(500, escapeUnprintable(boundText(found.text)));
      default:
        return found satisfies never;
    }
  };
}

/**
 * `/livez` and `/readyz` as Kubernetes' components have them: GET and HEAD, `?verbose`, `?exclude=name`; and
 * `?require=name` for a check that does not count otherwise, `?driver=name` where `checksFor` heeds it.
 */
export function createChecksRoute(
  name: string,
  checksFor: (driver: string | null) => readonly HealthCheck[],
): Route {
  return async ({ method, query }) => {
    if (method !== "GET" && method !== "HEAD")
      return textAnswer(405, "method not allowed\n", { allow: "GET, HEAD" });
    const verbose = query.has("verbose");
    const checks = checksFor(query.get("driver"));
    const [exclude, require] = [query.getAll("exclude"), query.getAll("require")];
    const report = await runChecks(name, checks, { verbose, exclude, require });
    return textAnswer(report.passed ? 200 : 503, report.body);
  };
}
