import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { createKeeper, type Keeper } from "../../../bench/keeper";
import { eventually } from "../../support/eventually";
import { kubernetesOf } from "./build";
import { startControlPlane } from "./control-plane";
import { recordDrivers } from "./driver-record";
import { IMAGES } from "./images";
import { type Node, startNode } from "./node";
import { addressOf } from "./node-configuration";
import { startProxy } from "./proxy";

const run = promisify(execFile);
/** The names of the nodes that a cluster may have. */
const NODES = ["node-1", "node-2", "node-3"] as const;

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

/**
 * An environment in which `kubectl` is the cluster's, by a script in this directory, and an administrator's kubeconfig is the
 * default.
 */
export function kubectlEnvironment(folder: string, { controlPlane }: Inside): NodeJS.ProcessEnv {
  writeFileSync(join(folder, "kubectl"), `#!/bin/sh\nexec ${KUBECTL.join(" ")} "$@"\n`, { mode: 0o755 });
  const PATH = [folder, process.env.PATH].join(delimiter);
  return { ...process.env, PATH, KUBECONFIG: controlPlane.kubeconfig("admin") };
}

async function startInside(keep: Keeper["keep"]) {
  const folder = mkdtempSync(join(process.env.CLUSTER_FOLDER ?? "", "cluster-"));
  const controlPlane = keep(
    await startControlPlane({ folder, address: addressOf(1), nodes: NODES, forPods: true }),
  );
  const start = (number: number) =>
    startNode({
      folder: join(folder, NODES[number - 1] ?? ""),
      controlPlane,
      number,
      images: JSON.parse(process.env.CLUSTER_IMAGES ?? "{}"),
      sandboxImage: IMAGES.pause,
    });
  const node = keep(await start(1));
  /** Node 2 or 3, ready for pods when this resolves. Disposing of it takes it out of the cluster: remove its pods first. */
  const addNode = async (number: number): Promise<Node> => {
    const added = await start(number);
    const { kubectl } = controlPlane;
    const leave = async () => {
      await added[Symbol.asyncDispose]();
      await kubectl("delete", "node", added.name, "--ignore-not-found");
    };
    try {
      await eventually(
        () => kubectl("wait", `node/${added.name}`, "--for=condition=Ready", "--timeout=60s"),
        {
          what: `${added.name} is ready`,
        },
      );
    } catch (error) {
      await leave();
      throw error;
    }
    return { ...added, [Symbol.asyncDispose]: leave };
  };
  return { controlPlane, node, addNode };
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
