import { csiDriver, daemonSet } from "../../../support/cluster-objects";
import { createMemoryCluster, type MemoryCluster, WELL } from "./memory-cluster";
import { addNode, DISK, deploy, FILES, STORAGE } from "./sick-cluster";

export const NODES = ["node-1", "node-2", "node-3"];
/** Neither a path nor an argument has the driver's name. */
export const NAMELESS = daemonSet(FILES, { folder: "csi-nfsplugin" });

interface World {
  /** Of each node, beside DISK: by default as kubelet writes it when all pods work. */
  readonly listed?: Readonly<Record<string, readonly string[]>>;
  readonly podsOn?: readonly string[];
  readonly statusOn?: (node: string) => object;
  readonly set?: typeof NAMELESS;
}

/** Three nodes with two drivers; the name of one is known only because nothing else is left. */
export async function makePair({ listed = {}, podsOn = NODES, ...more }: World = {}): Promise<MemoryCluster> {
  const { statusOn = () => WELL, set = NAMELESS } = more;
  const cluster = createMemoryCluster();
  for (const name of NODES) {
    const names = [DISK, ...(listed[name] ?? [FILES])];
    await addNode(cluster, name, Object.fromEntries(names.map((driver) => [driver, `i-${name}`])));
  }
  for (const driver of [DISK, FILES]) await cluster.create(`${STORAGE}/csidrivers`, csiDriver(driver));
  await deploy(cluster, daemonSet(DISK), NODES, () => WELL);
  await deploy(cluster, set, podsOn, statusOn);
  return cluster;
}
