import type { ApiAccess } from "../../../src/kube-api/access";
import { type ApiClient, createApiClient } from "../../../src/kube-api/client";
import type { Outcome } from "../../../src/kube-api/failure";
import { parseNode, type Taint } from "../../../src/node-readiness/node-api";
import { type ControlPlane, startControlPlane } from "../../cluster/support/control-plane";
import { objectsIn } from "../../cluster/support/objects";
import { DRIVER } from "../../node-readiness/support/controlled-registrations";
import { csiNode } from "../../support/cluster-objects";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";

const NODES = ["node-1", "node-2"];
export const ACCOUNT = "disk-csi-example-com-node";
const NAMESPACE = "kube-system";
const MANIFEST = [
  ...["--driver-name", DRIVER, "--image", "registrar:v1", "--driver-image", "driver:v1"],
  ...["--startup-taint={driver}/agent-not-ready", "--node-condition={driver}/Registered"],
];

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

export function useCluster(prepare: (cluster: Cluster) => Promise<unknown> = async () => {}): Cluster {
  const cluster = {} as Cluster;
  beforeAll(async () => {
    await prepare(Object.assign(cluster, await startCluster()));
  });
  afterAll(() => cluster[Symbol.asyncDispose]());
  return cluster;
}

/** An API server in a folder that is removed with it. */
export async function startApiServer(nodes: readonly string[] = []) {
  const folder = await createTempFolder();
  const controlPlane = await startControlPlane({ folder: folder.path, nodes });
  const close = async () => {
    await controlPlane.close();
    await folder[Symbol.asyncDispose]();
  };
  return { ...controlPlane, at: folder.at, [Symbol.asyncDispose]: close };
}

/** The calls of an administrator; those that fail throw, except patches. */
export function createAdmin({ url: server, caFile, adminToken }: ControlPlane) {
  const authority = { kind: "file", path: caFile } as const;
  const accessBy = (value: string): ApiAccess => ({ server, authority, token: { kind: "value", value } });
  const admin = createApiClient(accessBy(adminToken));
  const { signal } = new AbortController();
  const must = async (answer: Promise<Outcome<unknown>>): Promise<unknown> => {
    const got = await answer;
    if (got.kind === "failed") throw new Error(`${got.failure.kind}: ${got.failure.message}`);
    return got.value;
  };
  return {
    ...{ authority, accessBy, admin, must },
    read: (path: string) => must(admin.call({ method: "GET", path }, signal)),
    create: (path: string, body: object, client = admin) =>
      must(client.call({ method: "POST", path, body }, signal)),
    patch: (path: string, type: string, body: object, client = admin) =>
      client.call({ method: "PATCH", path, body, contentType: `application/${type}+json` }, signal),
  };
}

/** Starts it, with two Nodes and on each a pod of the DaemonSet's service account. */
async function startCluster() {
  const { stdout: yaml } = await runCommand("manifest", ...MANIFEST);
  const controlPlane = await startApiServer(NODES);
  const { authority, accessBy, admin, must, read, create, patch } = createAdmin(controlPlane);
  const kubelets: Record<string, ApiClient> = {};
  for (const node of NODES) {
    await create("/api/v1/nodes", { kind: "Node", apiVersion: "v1", metadata: { name: node } });
    const file = (kind: string) =>
      ({ kind: "file", path: controlPlane.at("pki", `node-${node}.${kind}`) }) as const;
    const identity = { certificate: file("crt"), key: file("key") };
    kubelets[node] = createApiClient({ server: controlPlane.url, authority, ...identity });
  }

  const apply = (text: string) => controlPlane.apply(objectsIn(text));
  await apply(yaml).catch(async (error) => {
    await controlPlane[Symbol.asyncDispose]();
    throw error;
  });
  for (const node of NODES)
    await create(`/api/v1/namespaces/${NAMESPACE}/pods`, {
      kind: "Pod",
      apiVersion: "v1",
      metadata: { name: `pod-on-${node}` },
      spec: {
        nodeName: node,
        serviceAccountName: ACCOUNT,
        automountServiceAccountToken: false,
        containers: [{ name: "registrar", image: "registrar:v1" }],
      },
    });

  const token = async (node: string) => {
    const bound = ["--bound-object-kind=Pod", `--bound-object-name=pod-on-${node}`];
    const words = ["create", "token", ACCOUNT, `--namespace=${NAMESPACE}`, ...bound];
    return (await controlPlane.kubectl(...words)).trim();
  };
  const node = async (name: string) => {
    const view = parseNode(await read(`/api/v1/nodes/${name}`));
    if (view === undefined) throw new Error(`no Node ${name}`);
    return view;
  };
  const csiNodePath = "/apis/storage.k8s.io/v1/csinodes";

  return {
    ...{ controlPlane, accessBy, admin, patch, apply, node },
    accessFrom: async (name: string) => accessBy(await token(name)),
    /** As kubelet of the node does it, with its own certificate: NodeRestriction watches. */
    writeCsiNode: async (name: string, drivers: readonly string[]) => {
      const kubelet = kubelets[name] ?? admin;
      const { uid } = await node(name);
      const body = csiNode(name, Object.fromEntries(drivers.map((driver) => [driver, name])), uid);
      await create(csiNodePath, body, kubelet).catch(() =>
        must(patch(`${csiNodePath}/${name}`, "merge-patch", body, kubelet)),
      );
    },
    writeStatus: (name: string, status: object) =>
      must(patch(`/api/v1/nodes/${name}/status`, "strategic-merge-patch", { status }, kubelets[name])),
    setTaints: (name: string, taints: readonly Taint[]) =>
      must(patch(`/api/v1/nodes/${name}`, "merge-patch", { spec: { taints } })),
    [Symbol.asyncDispose]: async () => {
      for (const client of [admin, ...Object.values(kubelets)]) client.close();
      await controlPlane[Symbol.asyncDispose]();
    },
  };
}
