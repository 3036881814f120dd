import type { Logger } from "../logging/logger";
import type { Registrar } from "../registrar/registrar";
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
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(body);
  };
}
