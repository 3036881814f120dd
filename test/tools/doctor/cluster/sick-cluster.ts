import {
  type ContainerChange,
  csiDriver,
  csiNode,
  daemonSet,
  failedMount,
  NAMESPACE,
  nodeStatus,
  podStatus,
  registrarPod,
  volumeAttachment,
  waitingPod,
} from "../../../support/cluster-objects";

export interface Stored {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
}

export interface ClusterWriter {
  create<Kind extends object>(path: string, object: Kind): Promise<Kind & Stored>;
  setStatus(path: string, status: object): Promise<void>;
}

export const DISK = "disk.csi.example.com";
export const FILES = "files.csi.example.com";
export const SHARES = "shares.csi.example.com";
const BACKUP = "backup.csi.example.com";
export const REFUSAL =
  "kubelet refused the driver: RegisterPlugin error -- plugin registration failed with err: rpc error: code = " +
  'Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /csi/csi.sock: connect: no ' +
  "such file or directory\" (on the host the driver's socket is /var/lib/kubelet/plugins/disk.csi.example.com/csi.sock: " +
  "write --kubelet-registration-path=/var/lib/kubelet/plugins/disk.csi.example.com/csi.sock)";

const NODES = ["node-1", "node-2", "node-3", "node-4"];
const idOf = (name: string) => `i-${name}`;
const DAEMON_SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`;
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
export const STORAGE = "/apis/storage.k8s.io/v1";

type Daemon = ReturnType<typeof daemonSet>;

/** A Node, and the CSINode that it owns. */
export async function addNode(
  writer: ClusterWriter,
  name: string,
  nodeIds: Readonly<Record<string, string>> = {},
  { isReady = true, metadata = {} } = {},
): Promise<void> {
  const node = { apiVersion: "v1", kind: "Node", metadata: { name, ...metadata } };
  const { uid } = (await writer.create("/api/v1/nodes", node)).metadata;
  await writer.setStatus(`/api/v1/nodes/${name}`, nodeStatus(isReady));
  await writer.create(`${STORAGE}/csinodes`, csiNode(name, nodeIds, uid));
}

/** `admit`: what admission makes of the template of a pod on a node. */
export async function deploy(
  writer: ClusterWriter,
  set: Daemon,
  nodes: readonly string[],
  statusOn: (node: string) => object,
  { isScheduled = true, desired = nodes.length, admit = (set: Daemon, _node: string) => set } = {},
): Promise<void> {
  const stored = await writer.create(DAEMON_SETS, set);
  await writer.setStatus(`${DAEMON_SETS}/${stored.metadata.name}`, {
    ...{ currentNumberScheduled: nodes.length, desiredNumberScheduled: desired },
    ...{ numberMisscheduled: 0, numberReady: nodes.length, observedGeneration: 1 },
  });
  for (const name of nodes) {
    const pod = await writer.create(PODS, registrarPod(admit(stored, name), name, { isScheduled }));
    await writer.setStatus(`${PODS}/${pod.metadata.name}`, statusOn(name));
  }
}

/**
 * Four nodes and four drivers. The registrars of `disk` have the container's path and crash-loop; the driver `files` died
 * on node-2, and has no pod on node-4, where one waits for it; `shares` is well, and has no CSIDriver; of `backup` there is
 * an attached volume and nothing else. node-3 does not report.
 */
export async function makeSickCluster(writer: ClusterWriter, nowMs: number): Promise<void> {
  const ago = (minutes: number) => `${new Date(nowMs - minutes * 60_000).toISOString().slice(0, 19)}Z`;
  const running: ContainerChange = { kind: "running", at: ago(60) };
  const well = podStatus({ registrar: running, driver: running });

  for (const name of [NAMESPACE, "shop"]) {
    await writer.create("/api/v1/namespaces", { metadata: { name } });
    await writer.create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } });
  }
  for (const name of NODES) {
    const drivers = { ...(name === "node-4" ? {} : { [FILES]: idOf(name) }), [SHARES]: idOf(name) };
    await addNode(writer, name, drivers, { isReady: name !== "node-3" });
  }
  for (const driver of [DISK, FILES, BACKUP]) await writer.create(`${STORAGE}/csidrivers`, csiDriver(driver));
  await writer.create(`${STORAGE}/volumeattachments`, volumeAttachment("backup-of-x", BACKUP, "node-1"));

  const refused: ContainerChange = {
    kind: "crash-loop",
    restarts: 12,
    last: { at: ago(2), exitCode: 1, message: REFUSAL },
  };
  const died: ContainerChange = { kind: "crash-loop", restarts: 31, last: { at: ago(3), exitCode: 139 } };
  await deploy(writer, daemonSet(DISK, { path: "/csi/csi.sock" }), NODES, () =>
    podStatus({ registrar: refused, driver: running }),
  );
  await deploy(writer, daemonSet(FILES), NODES.slice(0, 3), (name) =>
    name === "node-2" ? podStatus({ registrar: running, driver: died }) : well,
  );
  // Its name stands in no path, only in the driver's own argument.
  const named = { folder: "csi-shares", driverArgs: [`--drivername=${SHARES}`] };
  await deploy(writer, daemonSet(SHARES, named), NODES, () => well);

  for (const [name, host, driver] of [
    ["db-0", "node-1", DISK],
    ["db-1", "node-2", DISK],
    ["web-0", "node-4", FILES],
  ] as const) {
    const pod = await writer.create("/api/v1/namespaces/shop/pods", waitingPod(name, host, "shop"));
    await writer.create("/api/v1/namespaces/shop/events", failedMount(pod, driver, host));
  }
}
