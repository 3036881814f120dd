import { csiDriver, daemonSet, volumeAttachment } from "../../../support/cluster-objects";
import { ago, createMemoryCluster, type MemoryCluster, WELL } from "./memory-cluster";
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
