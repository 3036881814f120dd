import { csiDriver, daemonSet, podStatus, volumeAttachment } from "../../../support/cluster-objects";
import { ago, createMemoryCluster, type MemoryCluster, running, WELL } from "./memory-cluster";
import { addNode, DISK, deploy, FILES, STORAGE } from "./sick-cluster";

/** Three nodes with two drivers, volumes of one, and nothing that is wrong. */
export async function makeHealthy(): Promise<MemoryCluster> {
  const cluster = createMemoryCluster();
  const nodes = ["node-1", "node-2", "node-3"];
  for (const name of nodes) {
    const ids = { [DISK]: `i-${name}`, [FILES]: `i-${name}` };
    await addNode(cluster, name, ids);
    await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment(`of-${name}`, DISK, name));
  }
  for (const driver of [DISK, FILES]) {
    await cluster.create(`${STORAGE}/csidrivers`, csiDriver(driver));
    await deploy(cluster, daemonSet(driver), nodes, () => WELL);
  }
  return cluster;
}

/** The same, with a pod that failed and one that does not end beside those that took their places; of a third none did. */
export async function makeReplaced(): Promise<MemoryCluster> {
  const cluster = await makeHealthy();
  const failed = { status: { phase: "Failed", reason: "Evicted" } };
  const over = new Map<string, object>([
    ["disk-node-node-1", failed],
    ["disk-node-node-3", failed],
    ["files-node-node-2", { deletionTimestamp: ago(30) }],
  ]);
  cluster.edit((stored) =>
    stored.flatMap((one) => {
      const { metadata } = one.object;
      const { status, ...more } = { status: one.object.status, ...over.get(metadata.name) };
      if (!over.has(metadata.name) || !one.path.endsWith("/pods")) return one;
      const old = { ...metadata, ...more, name: `old-${metadata.name}`, uid: `old-${metadata.uid}` };
      const left = { ...one, object: { ...one.object, metadata: old, status } };
      return metadata.name === "disk-node-node-3" ? left : [left, one];
    }),
  );
  return cluster;
}

/** Two of what other clusters have one of: DaemonSets of a driver, pods of one of them on a node, registrars in a pod. */
export async function makeDouble(): Promise<MemoryCluster> {
  const cluster = createMemoryCluster();
  for (const name of ["node-1", "node-2"]) await addNode(cluster, name, { [DISK]: "i", [FILES]: "j" });
  const one = daemonSet(DISK);
  const { spec } = one.spec.template;
  const args = ["--csi-address=/csi/csi.sock", `--kubelet-registration-path=/x/${FILES}/csi.sock`];
  const second = spec.containers.filter(({ name }) => name === "registrar");
  spec.containers = [...spec.containers, ...second.map((own) => ({ ...own, name: "registrar-2", args }))];
  const both = podStatus({ registrar: running, driver: running, "registrar-2": running });
  await deploy(cluster, one, ["node-1", "node-2"], () => both);
  await deploy(cluster, daemonSet(DISK, { name: "disk-again" }), ["node-1"], () => WELL);
  cluster.edit((stored) =>
    stored.flatMap((own) => {
      const { metadata } = own.object;
      const other = { ...metadata, name: "disk-node-other", uid: "other", creationTimestamp: ago(30) };
      return metadata.name === "disk-node-node-2"
        ? [own, { ...own, object: { ...own.object, metadata: other } }]
        : own;
    }),
  );
  return cluster;
}
