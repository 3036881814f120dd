import { mkdtempSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createKeeper } from "../../../bench/keeper";
import { spawnProcess } from "../../support/child-process";
import { kubernetesOf } from "./build";
import { startControlPlane } from "./control-plane";
import { recordDrivers } from "./driver-record";
import { NODE_ADDRESS, startNode } from "./node";
import { until } from "./until";

const NODE = "node-1";

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

const KUBECTL = [kubernetesOf("CONTROL_PLANE"), "kubectl"] as const;

/** Resolves when the node is ready for pods; leaves nothing running when it rejects. */
export async function startCluster() {
  const { keep, ...keeper } = createKeeper();
  try {
    const folder = mkdtempSync(join(process.env.CLUSTER_FOLDER ?? "", "cluster-"));
    const options = { folder, address: NODE_ADDRESS, nodes: [NODE], forPods: true };
    const controlPlane = keep(await startControlPlane(options));
    const node = keep(await startNode(join(folder, NODE), controlPlane));
    const { kubectl, kubectlWith, apply, remove, kubeconfig } = controlPlane;
    const isReady = ["wait", "nodes", "--all", "--for=condition=Ready", "--timeout=60s"];
    await until(() => kubectl(...isReady), "the node is ready");
    const proxy = keep(await startProxy([...KUBECTL, `--kubeconfig=${kubeconfig("admin")}`]));
    const record = keep(await recordDrivers(proxy.url, NODE));
    const get = async <Object>(path: string) => {
      const answer = await fetch(`${proxy.url}${path}`);
      if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Object;
    };
    const client = { kubectl, kubectlWith, apply, remove, get };
    return { ...client, nodeName: NODE, record, controlPlane, node, ...keeper };
  } catch (error) {
    await keeper[Symbol.asyncDispose]();
    throw error;
  }
}

/** An environment in which `kubectl` is the cluster's, by a script in this directory, as an administrator. */
export function kubectlEnvironment(folder: string, { controlPlane }: Cluster): NodeJS.ProcessEnv {
  writeFileSync(join(folder, "kubectl"), `#!/bin/sh\nexec ${KUBECTL.join(" ")} "$@"\n`, { mode: 0o755 });
  const PATH = [folder, process.env.PATH].join(delimiter);
  return { ...process.env, PATH, KUBECONFIG: controlPlane.kubeconfig("admin") };
}

/** The API server over plain HTTP on a loopback port. It serves also while the API server itself is away. */
async function startProxy([program = "", ...words]: readonly string[]) {
  const { stdout, close } = spawnProcess(program, [...words, "proxy", "--port=0"]);
  const ADDRESS = /127\.0\.0\.1:\d+/;
  const line = await stdout.waitFor((text) => ADDRESS.test(text));
  return { url: `http://${ADDRESS.exec(line)?.[0]}`, [Symbol.asyncDispose]: close };
}
