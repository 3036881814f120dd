import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startCsiDriver, startKubelet } from "../../src/testing";
import { startCli } from "../../test/end-to-end/support/process";
import type { Cluster } from "../../test/node-readiness/api-server/support/cluster";
import { DRIVER } from "../../test/node-readiness/support/controlled-registrations";
import { FOREIGN_TAINT, STARTUP_TAINT } from "../../test/node-readiness/support/fixture";
import { createTempFolder } from "../../test/support/temp-folder";

/** One life of a registrar, as a process, at a real API server. */
export interface Life {
  /** From kubelet's registration status to the moment when the taint was seen to be gone. */
  readonly removalSeconds: number;
}

/** Starts so many registrars, one after the other, each on a node that has its taint. */
export async function measureLives(cluster: Cluster, count: number): Promise<readonly Life[]> {
  await using folder = await createTempFolder();
  const token = folder.at("token");
  writeFileSync(token, await cluster.token("node-1"));
  const kubeconfig = folder.at("kubeconfig");
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      clusters: [
        {
          name: "c",
          cluster: { server: cluster.controlPlane.url, "certificate-authority": cluster.controlPlane.caFile },
        },
      ],
      users: [{ name: "u", user: { tokenFile: token } }],
    }),
  );
  // Kubelet has written it before it tells.
  await cluster.writeCsiNode("node-1", [DRIVER], 25);
  const csiAddress = folder.at("csi.sock");
  await using _driver = await startCsiDriver({ csiAddress, name: DRIVER });
  const lives: Life[] = [];
  for (let index = 0; index < count; index += 1) {
    await using life = await createTempFolder();
    await cluster.setTaints("node-1", [FOREIGN_TAINT, STARTUP_TAINT]);
    const cli = startCli(
      [
        `--csi-address=${csiAddress}`,
        `--kubelet-registration-path=${csiAddress}`,
        `--plugin-registration-path=${life.path}`,
        "--remove-startup-taint={driver}/agent-not-ready",
        `--termination-log=${join(life.path, ".none")}`,
      ],
      { KUBECONFIG: kubeconfig, NODE_NAME: "node-1" },
    );
    const kubelet = await startKubelet({ pluginRegistrationPath: life.path });
    const { fields } = await cli.line("Startup taint removed");
    lives.push({ removalSeconds: Number.parseFloat(String(fields.afterRegistration)) });
    await cli.stop();
    await kubelet[Symbol.asyncDispose]();
  }
  return lives;
}
