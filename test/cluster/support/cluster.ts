import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createKeeper, type Keeper } from "../../../bench/keeper";
import { eventually } from "../../support/eventually";
import { kubernetesOf } from "./build";
import { startControlPlane } from "./control-plane";
import { recordDrivers } from "./driver-record";
import { IMAGES } from "./images";
import { startNode } from "./node";
import { startProxy } from "./proxy";

const run = promisify(execFile);
const ADDRESS = "192.168.99.1";

export type Client = ReturnType<typeof createClient>;

/** What only a cluster of our own lets one touch. */
export type Inside = Awaited<ReturnType<typeof startInside>>;

/** A Kubernetes to try things in, with the suite's images on its node. */
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** Whether the suite has a cluster of its own, rather than that of KUBECONFIG. */
export const isOwn = process.env.CLUSTER_FOLDER !== undefined;
const KUBECTL = isOwn ? ([kubernetesOf("CONTROL_PLANE"), "kubectl"] as const) : (["kubectl"] as const);

/** Resolves when the node is ready for pods; leaves nothing running when it rejects. */
export async function startCluster() {
  const { keep, ...keeper } = createKeeper();
  try {
    const inside = isOwn ? await startInside(keep) : undefined;
    const kubeconfig = inside?.controlPlane.kubeconfig("admin") ?? process.env.KUBECONFIG ?? "";
    const client = createClient(kubeconfig);
    /** Where DaemonSets put their pods, and what is watched. */
    const nodeName = await readyNode(client);
    const proxy = keep(await startProxy([...KUBECTL, `--kubeconfig=${kubeconfig}`]));
    const record = keep(await recordDrivers(proxy.url, nodeName));
    /** An object or a list, by its path; rejects where there is none. */
    const get = async <Object>(path: string) => {
      const answer = await fetch(`${proxy.url}${path}`);
      if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Object;
    };
    return { ...client, get, nodeName, record, ...(inside && { inside }), ...keeper };
  } catch (error) {
    await keeper[Symbol.asyncDispose]();
    throw error;
  }
}

async function startInside(keep: Keeper["keep"]) {
  const folder = mkdtempSync(join(process.env.CLUSTER_FOLDER ?? "", "cluster-"));
  const name = "node-1";
  const controlPlane = keep(
    await startControlPlane({ folder, address: ADDRESS, nodes: [name], forPods: true }),
  );
  const node = keep(
    await startNode({
      folder: join(folder, name),
      controlPlane,
      address: ADDRESS,
      images: JSON.parse(process.env.CLUSTER_IMAGES ?? "{}"),
      sandboxImage: IMAGES.pause,
    }),
  );
  return { controlPlane, node };
}

function createClient(kubeconfig: string) {
  const [program, ...first] = [...KUBECTL, `--kubeconfig=${kubeconfig}`];
  return {
    /** kubectl as an administrator: its output. Rejects with its own words. */
    kubectl: async (...words: readonly string[]): Promise<string> => {
      const { stdout } = await run(program, [...first, ...words], { maxBuffer: 1 << 26 });
      return stdout;
    },
    /** As kubectl, with objects for its stdin; answers both of its outputs. */
    kubectlWith: async (objects: readonly object[], ...words: readonly string[]): Promise<string> => {
      const child = spawn(program, [...first, ...words, "--filename=-"], { stdio: "pipe" });
      const said: string[] = [];
      for (const output of [child.stdout, child.stderr])
        output.on("data", (chunk) => said.push(String(chunk)));
      child.stdin.end(JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
      const [code] = await once(child, "close");
      if (code !== 0)
        throw new Error(`kubectl ${words.join(" ")} ended with ${code}: ${said.join("").trim()}`);
      return said.join("");
    },
  };
}

function readyNode({ kubectl }: Client): Promise<string> {
  return eventually(
    async () => {
      const { items } = JSON.parse(await kubectl("get", "nodes", "--output=json")) as { items: NodeObject[] };
      const ready = items.find(({ status }) =>
        status.conditions.some(({ type, status: is }) => type === "Ready" && is === "True"),
      );
      if (!ready) throw new Error(`of ${items.length} nodes none is ready`);
      return ready.metadata.name;
    },
    { what: "a node is ready", limitMs: 180_000 },
  );
}

interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}
