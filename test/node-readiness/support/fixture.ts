import { type NodeReadinessOptions, resolveNodeReadinessOptions } from "../../../src/node-readiness/options";
import {
  type NodeReadiness,
  type NodeReadinessPace,
  runNodeReadiness,
} from "../../../src/node-readiness/run-node-readiness";
import { type RecordedLog, recordLog } from "../../support/recorded-log";
import { createTempFolder } from "../../support/temp-folder";
import { type Certificate, makeCertificate } from "./certificates";
import { type ControlledRegistrations, createRegistrations } from "./controlled-registrations";
import { NODE_NAME, type ScriptedApiServer, startScriptedApiServer } from "./scripted-api-server";

/** A taint as a cloud's node group puts it on, and one that belongs to somebody else. */
export const STARTUP_TAINT = { key: "disk.csi.example.com/agent-not-ready", effect: "NoSchedule" };
export const FOREIGN_TAINT = { key: "dedicated", value: "gpu", effect: "NoExecute" };

/** A server, registrations, and what listens to them. */
export interface Fixture extends AsyncDisposable {
  readonly server: ScriptedApiServer;
  readonly registrations: ControlledRegistrations;
  readonly log: RecordedLog;
  readonly readiness: NodeReadiness;
}

/** Nobody waits long in a test. */
export const QUICK_PACE: NodeReadinessPace = {
  watch: { retry: { initialMs: 10, maxMs: 50 }, lastsMs: 60_000, spreadMs: 10 },
  taint: { unlisted: { initialMs: 10, maxMs: 50 }, fight: { initialMs: 10, maxMs: 50 } },
};

/** Starts all of it; `prepare` sees the server first. */
export async function startFixture(
  certificate: Certificate,
  { pace = QUICK_PACE, ...options }: Partial<NodeReadinessOptions> & { readonly pace?: NodeReadinessPace } = {
    startupTaints: ["{driver}/agent-not-ready"],
  },
  prepare: (server: ScriptedApiServer) => void = () => {},
): Promise<Fixture> {
  const server = await startScriptedApiServer(certificate);
  prepare(server);
  const registrations = createRegistrations();
  const log = recordLog();
  const readiness = runNodeReadiness(
    registrations,
    resolveNodeReadinessOptions({ nodeName: NODE_NAME, access: server.access, ...options }),
    { log: log.logger, pace },
  );
  return {
    server,
    registrations,
    log,
    readiness,
    [Symbol.asyncDispose]: async () => {
      await readiness.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A certificate for a whole file of tests. */
export async function makeTestCertificate(): Promise<Certificate> {
  await using folder = await createTempFolder();
  return makeCertificate(folder.path, "api-server");
}
