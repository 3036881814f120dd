import type { ClusterWriter } from "../../test/doctor/cluster/sick-cluster";
import {
  type ContainerChange,
  csiDriver,
  csiNode,
  daemonSet,
  failedMount,
  NAMESPACE,
  node,
  nodeStatus,
  podStatus,
  registrarPod,
  volumeAttachment,
  waitingPod,
} from "../../test/support/cluster-objects";

/** How large a cluster is. */
export interface FleetSize {
  readonly nodes: number;
  readonly drivers: number;
  /** Pods of others on each node. */
  readonly otherPods: number;
  readonly attachments: number;
}

const STORAGE = "/apis/storage.k8s.io/v1";
const AT_ONCE = 16;
const OTHERS = "shop";

/**
 * Fills a cluster: every node has every driver. One of 50 nodes has a driver's registrar that crash-loops, and a pod that
 * waits for its volume.
 */
export async function makeFleet(writer: ClusterWriter, size: FleetSize, announce: (text: string) => void) {
  const at = `${new Date(Date.now() - 3_600_000).toISOString().slice(0, 19)}Z`;
  const running: ContainerChange = { kind: "running", at };
  const crashed: ContainerChange = {
    kind: "crash-loop",
    restarts: 12,
    last: { at, exitCode: 1, message: "kubelet refused the driver: topology keys differ" },
  };
  const well = podStatus({ registrar: running, driver: running });
  const ill = podStatus({ registrar: crashed, driver: running });
  const drivers = Array.from({ length: size.drivers }, (_, n) => `disk-${n}.csi.example.com`);
  const nodes = Array.from({ length: size.nodes }, (_, n) => `node-${String(n).padStart(5, "0")}`);
  const isIll = (n: number) => n % 50 === 7;

  for (const name of [NAMESPACE, OTHERS]) {
    await writer.create("/api/v1/namespaces", { metadata: { name } });
    await writer.create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } });
  }
  for (const driver of drivers) await writer.create(`${STORAGE}/csidrivers`, csiDriver(driver));
  const sets = [];
  for (const driver of drivers) {
    const name = driver.split(".")[0] ?? "";
    sets.push(
      await writer.create(`/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`, daemonSet(driver, { name })),
    );
  }

  announce("nodes, CSINodes and pods of drivers");
  await forAll(nodes, async (name, n) => {
    const ids = Object.fromEntries(drivers.slice(isIll(n) ? 1 : 0).map((driver) => [driver, `i-${name}`]));
    await writer.create("/api/v1/nodes", node(name, ids));
    await writer.setStatus(`/api/v1/nodes/${name}`, { ...nodeStatus(true), images: IMAGES });
    await writer.create(`${STORAGE}/csinodes`, csiNode(name, ids));
    for (const [index, set] of sets.entries()) {
      const pods = `/api/v1/namespaces/${NAMESPACE}/pods`;
      const pod = await writer.create(pods, registrarPod(set, name));
      await writer.setStatus(`${pods}/${pod.metadata.name}`, isIll(n) && index === 0 ? ill : well);
    }
  });
  announce("pods of others, events, VolumeAttachments");
  await forAll(nodes, async (name, n) => {
    const pods = `/api/v1/namespaces/${OTHERS}/pods`;
    for (let other = 0; other < size.otherPods; other++) {
      const pod = await writer.create(pods, waitingPod(`app-${n}-${other}`, name, OTHERS));
      const waits = isIll(n) && other === 0;
      if (waits)
        await writer.create(`/api/v1/namespaces/${OTHERS}/events`, failedMount(pod, drivers[0] ?? "", name));
      else await writer.setStatus(`${pods}/${pod.metadata.name}`, podStatus({ app: running }));
    }
  });
  await forAll(Array.from({ length: size.attachments }), async (_, n) => {
    const driver = drivers[n % drivers.length] ?? "";
    const body = volumeAttachment(`csi-${n}`, driver, nodes[n % nodes.length] ?? "");
    await writer.create(`${STORAGE}/volumeattachments`, body);
  });
}

/** What makes a Node large: up to 50 images, each by tag and digest. */
const IMAGES = Array.from({ length: 40 }, (_, n) => ({
  names: [
    `registry.example.com/library/image-${n}@sha256:${String(n).padStart(2, "0").repeat(32)}`,
    `registry.example.com/library/image-${n}:v1.2.${n}`,
  ],
  sizeBytes: 50_000_000 + n,
}));

async function forAll<Item>(items: readonly Item[], work: (item: Item, index: number) => Promise<void>) {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) await work(items[index] as Item, index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
