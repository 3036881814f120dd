import type { ProcessFacts } from "../../src/diagnostics/metric-table";
import { createRoutes, type RoutesOptions } from "../../src/diagnostics/routes";
import type { RegistrarOptions } from "../../src/registrar/model/options";
import { only } from "../../src/registrar/registration/registrations";
import { askHttp } from "../support/http";
import { createTestNode, DRIVER, startTestRegistrar } from "../support/registrar-node";
import { type Answer, startScriptedDriver } from "../support/scripted-driver";
import { serve } from "./http/support";

export const PROCESS_FACTS: ProcessFacts = {
  version: "v1.2.3",
  nodeVersion: "v20.0.0",
  startedAt: 1_000_500,
  uptimeSeconds: () => 60,
  usage: () => ({ cpuSeconds: 1.5, residentBytes: 4096, heapBytes: 1024 }),
};

export const OPTIONS = { metricsPath: "/metrics", requireDriver: false, profiledCommandLine: undefined };

interface ServedOptions {
  /** The driver's answers; without them there is no driver at first. */
  readonly driver?: readonly Answer[];
  readonly registrar?: Partial<RegistrarOptions>;
  readonly http?: Partial<RoutesOptions>;
}

/** Starts a registrar on a node of its own, perhaps with a driver, and its HTTP endpoint. */
export async function serveRegistrar({ driver, registrar, http: options }: ServedOptions = {}) {
  const node = await createTestNode();
  const startDriver = async (...answers: readonly Answer[]) =>
    node.keep(await startScriptedDriver(node.csiAddress, ...answers));
  if (driver) await startDriver(...driver);
  const started = node.keep(await startTestRegistrar(node, registrar));
  const context = { log: started.log.logger, facts: PROCESS_FACTS };
  const routes = createRoutes(only(started.registrar), { ...OPTIONS, ...options }, context);
  const { port } = node.keep(await serve(Object.fromEntries(routes), started.log));
  return {
    ...started,
    ask: (path: string, method = "GET", headers: Record<string, string> = {}) =>
      askHttp(port, path, { method, headers }),
    socketPath: node.socketPath(DRIVER),
    startDriver,
    /** Does what kubelet does: refuses the driver with `error`. */
    register: async (error?: string) => {
      await started.state("listening");
      await (error === undefined ? started.accept() : started.refuse(error));
    },
    [Symbol.asyncDispose]: node[Symbol.asyncDispose],
  };
}
