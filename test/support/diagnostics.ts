import type { ProcessFacts } from "../../src/diagnostics/metric-table";
import { createRoutes, type RoutesOptions } from "../../src/diagnostics/routes";
import { startDiagnosticsServer } from "../../src/diagnostics/server";
import { only } from "../../src/registrar/registration/registrations";
import type { TestFleet } from "./fleet-node";
import { askHttp } from "./http";
import type { TestRegistrar } from "./registrar-node";

export const PROCESS_FACTS: ProcessFacts = {
  version: "v1.2.3",
  nodeVersion: "v20.0.0",
  startedAt: 1_000_500,
  uptimeSeconds: () => 60,
  usage: () => ({ cpuSeconds: 1.5, residentBytes: 4096, heapBytes: 1024 }),
};

export async function serveDiagnostics(
  started: TestRegistrar | TestFleet,
  options: Partial<RoutesOptions> = {},
) {
  const { log } = started;
  const routes = createRoutes(
    "fleet" in started ? started.fleet : only(started.registrar),
    { metricsPath: "/metrics", requireDriver: false, profiledCommandLine: undefined, ...options },
    { log: log.logger, facts: PROCESS_FACTS },
  );
  const server = startDiagnosticsServer("127.0.0.1:0", routes, { log: log.logger });
  const port = await server.listening;
  return {
    port,
    ask: (path: string, method = "GET", headers: Record<string, string> = {}) =>
      askHttp(port, path, { method, headers }),
    [Symbol.asyncDispose]: server.close,
  };
}
