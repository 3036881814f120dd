import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { startCsiDriver, startKubelet } from "../../src/testing";
import { startCli } from "../../test/end-to-end/support/process";
import { DRIVER } from "../../test/node-readiness/support/controlled-registrations";
import { makeTestCertificate } from "../../test/node-readiness/support/fixture";
import { NODE_NAME, startScriptedApiServer } from "../../test/node-readiness/support/scripted-api-server";
import { createTempFolder } from "../../test/support/temp-folder";

/** Anonymous memory of a registrar at rest, in kB, with the flags and without. */
export interface MemoryPair {
  readonly withFlags: number;
  readonly without: number;
}

/** After the one collection that the registrar makes when all is quiet. */
const AT_REST_AFTER_MS = 14_000;

/** Both at a time, in one node's folder each; the one with the flags removes a taint first and then watches. */
export async function measureMemory(): Promise<MemoryPair> {
  const certificate = await makeTestCertificate();
  await using server = await startScriptedApiServer(certificate);
  server.listed = [DRIVER];
  server.setTaints([{ key: `${DRIVER}/agent-not-ready`, effect: "NoSchedule" }]);
  const run = async (flags: readonly string[]): Promise<number> => {
    await using folder = await createTempFolder();
    await using plugins = await createTempFolder();
    const [csiAddress, kubeconfig, token] = ["csi.sock", "kubeconfig", "token"].map((name) =>
      folder.at(name),
    ) as [string, string, string];
    writeFileSync(token, "secret");
    const authority = Buffer.from(certificate.certificate).toString("base64");
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        "current-context": "c",
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
        clusters: [
          { name: "c", cluster: { server: server.access.server, "certificate-authority-data": authority } },
        ],
        users: [{ name: "u", user: { tokenFile: token } }],
      }),
    );
    await using _driver = await startCsiDriver({ csiAddress, name: DRIVER });
    await using kubelet = await startKubelet({ pluginRegistrationPath: plugins.path });
    const paths = [
      `--csi-address=${csiAddress}`,
      `--kubelet-registration-path=${csiAddress}`,
      `--plugin-registration-path=${plugins.path}`,
    ];
    const cli = startCli([...paths, "--http-endpoint=127.0.0.1:0", ...flags], {
      KUBECONFIG: kubeconfig,
      NODE_NAME,
    });
    await kubelet.registered(DRIVER, { signal: AbortSignal.timeout(20_000) });
    if (flags.length > 0) await cli.line("Startup taint removed");
    await delay(AT_REST_AFTER_MS);
    const status = readFileSync(`/proc/${cli.pid}/status`, "utf8");
    await cli.stop();
    return Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1]);
  };
  const [withFlags, without] = await Promise.all([
    run(["--remove-startup-taint={driver}/agent-not-ready"]),
    run([]),
  ]);
  return { withFlags, without };
}
