import type { RegistrarOptions } from "../../src/registrar/model/options";
import { serveDiagnostics } from "../support/diagnostics";
import { registerOnce } from "../support/dial-registration";
import { createTestNode, startTestRegistrar } from "../support/registrar-node";
import { type Answer, startScriptedDriver } from "../support/scripted-driver";

export const DRIVER = "x.csi";

interface ServedOptions {
  /** The driver's answers; without them there is no driver at first. */
  readonly driver?: readonly Answer[];
  readonly registrar?: Partial<RegistrarOptions>;
  readonly http?: Parameters<typeof serveDiagnostics>[1];
}

/** Starts a registrar on a node of its own, perhaps with a driver, and its HTTP endpoint. */
export async function serveRegistrar({ driver, registrar, http: options }: ServedOptions = {}) {
  const node = await createTestNode();
  const drivers: AsyncDisposable[] = [];
  const startDriver = async (...answers: readonly Answer[]) => {
    const started = await startScriptedDriver(node.csiAddress, ...answers);
    drivers.push(started);
    return started;
  };
  if (driver) await startDriver(...driver);
  const started = await startTestRegistrar(node, registrar);
  const http = await serveDiagnostics(started, options);
  return {
    ...started,
    ask: http.ask,
    port: http.port,
    socketPath: node.socketPath(DRIVER),
    startDriver,
    /** Does what kubelet does: refuses the driver with `error`. */
    register: async (error?: string) => {
      await started.state("listening");
      await registerOnce(node.socketPath(DRIVER), error);
      await started.state(error === undefined ? "registered" : "refused");
    },
    [Symbol.asyncDispose]: async () => {
      for (const one of [http, started, ...drivers, node]) await one[Symbol.asyncDispose]();
    },
  };
}
