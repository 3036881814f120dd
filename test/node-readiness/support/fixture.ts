import type { ApiAccess } from "../../../src/kube-api/access";
import { type NodeReadinessOptions, resolveNodeReadinessOptions } from "../../../src/node-readiness/options";
import { runNodeReadiness } from "../../../src/node-readiness/start-node-readiness";
import type { Registrations } from "../../../src/registrar/registration/registrations";
import { eventually } from "../../support/eventually";
import { recordLog } from "../../support/recorded-log";
import { createRegistrations } from "./controlled-registrations";
import { NODE_NAME, type ScriptedApiServer, startScriptedApiServer } from "./scripted-api-server";

/** A taint as a cloud's node group adds it, and one that belongs to another client. */
export const STARTUP_TAINT = { key: "disk.csi.example.com/agent-not-ready", effect: "NoSchedule" };
export const FOREIGN_TAINT = { key: "dedicated", value: "gpu", effect: "NoExecute" };

export const IN_TROUBLE =
  "API server request for node readiness failed, will retry; registration is not affected";
export const WELL_AGAIN = "API server requests for node readiness succeed again";

export const QUICK_PACE = {
  watch: { retry: { initialMs: 10, maxMs: 50 }, lastsMs: 60_000, spreadMs: 10, silentMs: 60_000 },
  taint: { unlisted: { initialMs: 10, maxMs: 50 }, fight: { initialMs: 10, maxMs: 50 } },
};

/** In the place of a start's result, where a test has registrations that it controls. */
export const NO_REGISTRATIONS: Registrations = { scope: "one-driver", all: [], subscribe: () => () => {} };

export type FixtureOptions = Partial<NodeReadinessOptions> & {
  readonly pace?: Parameters<typeof runNodeReadiness>[1];
};
export type Fixture = Awaited<ReturnType<typeof startFixture>>;

/** Starts node readiness of the test node, of registrations that the test controls unless it gives others. */
export function startReadiness({ pace = QUICK_PACE, access, ...options }: FixtureOptions) {
  const registrations = createRegistrations();
  const log = recordLog();
  const own = { nodeName: NODE_NAME, access: access as ApiAccess, logger: log.logger };
  const resolved = resolveNodeReadinessOptions({ registrations: NO_REGISTRATIONS, ...own, ...options });
  const readiness = runNodeReadiness({ ...resolved, ...(!options.registrations && { registrations }) }, pace);
  return { registrations, log, readiness, [Symbol.asyncDispose]: readiness[Symbol.asyncDispose] };
}

export async function startFixture(
  options: FixtureOptions = { startupTaints: ["{driver}/agent-not-ready"] },
  prepare: (server: ScriptedApiServer) => void = () => {},
) {
  const server = await startScriptedApiServer();
  prepare(server);
  const started = startReadiness({ access: server.access, ...options });
  return {
    ...started,
    server,
    isWatching: () => eventually(() => expect(server.watches).toBe(1)),
    register: (...drivers: readonly string[]) => {
      server.listed = drivers;
      for (const driver of drivers) started.registrations.set("registered", driver);
    },
    kinds: () => server.requests.map(({ kind }) => kind),
    [Symbol.asyncDispose]: async () => {
      await started.readiness.close();
      expect(started.registrations.countListeners()).toBe(0);
      await server[Symbol.asyncDispose]();
    },
  };
}
