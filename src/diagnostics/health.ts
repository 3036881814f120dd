import type { ServerResponse } from "node:http";
import type { Logger } from "../logging/logger";
import type { Registrar } from "../registrar/registrar";
import { type Check, runChecks } from "./checks";
import type { Route } from "./server";

/**
 * `/healthz`, drop-in: the official registrar's statuses and bodies, once there is a registration socket. Before that
 * it is healthy too: the official one has no server then, and a liveness probe must not kill a patient process.
 */
export function createHealthRoute(registrar: Registrar, parentLog: Logger): Route {
  const log = parentLog.named("health");
  return async (_request, response) => {
    const { status, body } = await registrar.selfCheck();
    if (status === 200) log.v(5).info("Health check succeeded");
    else if (status === 404) log.error(undefined, "Health check failed, registration socket does not exist");
    else log.error(new Error(body), "Health check failed");
    answer(response, status, body);
  };
}

/** `/livez` and `/readyz` as Kubernetes' components have them: GET and HEAD, `?verbose`, `?exclude=name`. */
export function createChecksRoute(name: string, checks: readonly Check[]): Route {
  return async (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return answer(response, 405, "method not allowed\n");
    }
    const query = new URL(request.url ?? "/", "http://localhost").searchParams;
    const verbose = query.has("verbose");
    const report = await runChecks(name, checks, { verbose, exclude: query.getAll("exclude") });
    answer(response, report.passed ? 200 : 503, report.body);
  };
}

function answer(response: ServerResponse, status: number, body: string): void {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
}
