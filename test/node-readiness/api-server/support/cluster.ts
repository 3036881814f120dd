import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ApiAccess } from "../../../../src/node-readiness/api/access";
import { type ApiClient, createApiClient } from "../../../../src/node-readiness/api/client";
import type { ApiAnswer } from "../../../../src/node-readiness/api/failure";
import { driversIn, type NodeView, parseNode, type Taint } from "../../../../src/node-readiness/api/node";
import { type ControlPlane, startControlPlane } from "../../../cluster/support/control-plane";
import { createTempFolder } from "../../../support/temp-folder";
import { DRIVER } from "../../support/controlled-registrations";

const run = promisify(execFile);
const ROOT = join(__dirname, "..", "..", "..", "..");

export const NODES = ["node-1", "node-2"];
/** What `manifest` calls the service account, and where it puts it. */
export const ACCOUNT = "disk-csi-example-com-node";
export const NAMESPACE = "kube-system";

/** A real API server, in which `registrar manifest` was applied. */
export interface Cluster extends AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly folder: string;
  /** As system:masters. */
  readonly admin: ApiClient;
  /** As kubelet of a node does it, with its own certificate: NodeRestriction watches. */
  writeCsiNode(node: string, drivers: readonly string[], limit?: number): Promise<void>;
  /** The same, for the Node's own status. */
  writeStatus(node: string, status: object): Promise<void>;
  listedDrivers(node: string): Promise<readonly string[]>;
  node(name: string): Promise<NodeView>;
  setTaints(node: string, taints: readonly Taint[]): Promise<void>;
  /** With a token that is bound to a pod on this node. */
  accessFrom(node: string): Promise<ApiAccess>;
  token(node: string): Promise<string>;
  /** Applies the YAML with server-side validation. */
  apply(yaml: string): Promise<string>;
}

/** What `registrar manifest` writes for the driver, with these words. */
export async function writeManifest(...words: readonly string[]): Promise<string> {
  const fixed = ["--driver-name", DRIVER, "--image", "registrar:v1", "--driver-image", "driver:v1"];
  const { stdout } = await run(process.execPath, [
    join(ROOT, "dist", "cli.js"),
    "manifest",
    ...fixed,
    ...words,
  ]);
  return stdout;
}

/** Starts it, with two Nodes and on each a pod of the DaemonSet's service account. */
export async function startCluster(
  words: readonly string[] = [
    "--startup-taint={driver}/agent-not-ready",
    "--node-condition={driver}/Registered",
  ],
): Promise<Cluster> {
  const yaml = await writeManifest(...words);
  const folder = await createTempFolder();
  const controlPlane = await startControlPlane({ folder: folder.path, nodes: NODES });
  const authority = { kind: "file", path: controlPlane.caFile } as const;
  const admin = createApiClient({
    server: controlPlane.url,
    authority,
    token: { kind: "value", value: controlPlane.adminToken },
  });
  const { signal } = new AbortController();
  const must = async (answer: Promise<ApiAnswer>): Promise<unknown> => {
    const got = await answer;
    if (got.kind === "failed") throw new Error(`${got.failure.kind}: ${got.failure.message}`);
    return got.object;
  };
  const create = (path: string, body: object) => must(admin.call({ method: "POST", path, body }, signal));
  const kubelets = new Map<string, ApiClient>();
  for (const node of NODES) {
    await create("/api/v1/nodes", { kind: "Node", apiVersion: "v1", metadata: { name: node } });
    const file = (kind: string) =>
      ({ kind: "file", path: join(folder.path, "pki", `node-${node}.${kind}`) }) as const;
    kubelets.set(
      node,
      createApiClient({ server: controlPlane.url, authority, certificate: file("crt"), key: file("key") }),
    );
  }

  const apply = async (yaml: string) => {
    const file = folder.at("applied.yaml");
    writeFileSync(file, yaml);
    return controlPlane.kubectl("apply", "--server-side", "--validate=strict", "-f", file);
  };
  await apply(yaml).catch(async (error) => {
    await controlPlane.close();
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
    return (
      await controlPlane.kubectl("create", "token", ACCOUNT, `--namespace=${NAMESPACE}`, ...bound)
    ).trim();
  };
  const node = async (name: string) => {
    const view = parseNode(await must(admin.call({ method: "GET", path: `/api/v1/nodes/${name}` }, signal)));
    if (view === undefined) throw new Error(`no Node ${name}`);
    return view;
  };
  const csiNodePath = "/apis/storage.k8s.io/v1/csinodes";

  return {
    controlPlane,
    folder: folder.path,
    admin,
    apply,
    token,
    node,
    accessFrom: async (name) => ({
      server: controlPlane.url,
      authority,
      token: { kind: "value", value: await token(name) },
    }),
    listedDrivers: async (name) =>
      driversIn(await must(admin.call({ method: "GET", path: `${csiNodePath}/${name}` }, signal))),
    writeCsiNode: async (name, drivers, limit) => {
      const kubelet = kubelets.get(name);
      if (kubelet === undefined) throw new Error(`no kubelet on ${name}`);
      const { uid } = await node(name);
      const body = {
        kind: "CSINode",
        apiVersion: "storage.k8s.io/v1",
        metadata: { name, ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] },
        spec: {
          drivers: drivers.map((driver) => ({
            name: driver,
            nodeID: name,
            topologyKeys: [],
            ...(limit === undefined ? {} : { allocatable: { count: limit } }),
          })),
        },
      };
      const created = await kubelet.call({ method: "POST", path: csiNodePath, body }, signal);
      if (created.kind === "answered") return;
      const contentType = "application/merge-patch+json";
      await must(
        kubelet.call({ method: "PATCH", path: `${csiNodePath}/${name}`, body, contentType }, signal),
      );
    },
    writeStatus: async (name, status) => {
      const kubelet = kubelets.get(name);
      if (kubelet === undefined) throw new Error(`no kubelet on ${name}`);
      const path = `/api/v1/nodes/${name}/status`;
      const contentType = "application/strategic-merge-patch+json";
      await must(kubelet.call({ method: "PATCH", path, body: { status }, contentType }, signal));
    },
    setTaints: async (name, taints) => {
      const call = {
        method: "PATCH",
        path: `/api/v1/nodes/${name}`,
        body: { spec: { taints } },
        contentType: "application/merge-patch+json",
      } as const;
      await must(admin.call(call, signal));
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of [admin, ...kubelets.values()]) client.close();
      await controlPlane.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
