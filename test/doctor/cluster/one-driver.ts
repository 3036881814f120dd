import {
  csiDriver,
  csiNode,
  daemonSet,
  NAMESPACE,
  node,
  nodeStatus,
  podStatus,
  registrarPod,
  type SetChanges,
} from "../../support/cluster-objects";
import { ago, createMemoryCluster, type MemoryCluster } from "./memory-cluster";
import { DISK } from "./sick-cluster";

export const STORAGE = "/apis/storage.k8s.io/v1";
export const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
export const DAEMON_SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`;
export const running = { kind: "running", at: ago(30) } as const;
export const WELL = podStatus({ registrar: running, driver: running });

export interface Changes {
  /** As kubelet has registered them on node-1; undefined for as it should be. */
  readonly inCsiNode?: Readonly<Record<string, string>>;
  readonly inAnnotation?: Readonly<Record<string, string>>;
  readonly isReady?: boolean;
  readonly status?: object;
  readonly isScheduled?: boolean;
  readonly set?: SetChanges;
  readonly desired?: number;
  readonly hasPod?: boolean;
  readonly hasCsiDriver?: boolean;
}

/** A cluster with one node and one driver, which is well but for the changes. */
export async function makeCluster(changes: Changes = {}): Promise<MemoryCluster> {
  const { inCsiNode = { [DISK]: "i-1" }, inAnnotation = inCsiNode, isReady = true, status = WELL } = changes;
  const { set = {}, desired = 1, hasPod = true, hasCsiDriver = true, isScheduled = true } = changes;
  const cluster = createMemoryCluster();
  await cluster.create("/api/v1/nodes", node("node-1", inAnnotation));
  await cluster.setStatus("/api/v1/nodes/node-1", nodeStatus(isReady));
  await cluster.create(`${STORAGE}/csinodes`, csiNode("node-1", inCsiNode));
  if (hasCsiDriver) await cluster.create(`${STORAGE}/csidrivers`, csiDriver(DISK));
  const stored = await cluster.create(DAEMON_SETS, daemonSet(DISK, set));
  await cluster.setStatus(`${DAEMON_SETS}/${stored.metadata.name}`, {
    desiredNumberScheduled: desired,
    currentNumberScheduled: 1,
  });
  if (hasPod) {
    const pod = await cluster.create(PODS, registrarPod(stored, "node-1", { isScheduled }));
    await cluster.setStatus(`${PODS}/${pod.metadata.name}`, status);
  }
  return cluster;
}

/** What is not well, a line each. */
export async function said(cluster: MemoryCluster): Promise<readonly string[]> {
  const { findings } = await cluster.report();
  return findings
    .filter(({ status }) => status !== "ok")
    .map(({ code, status, subject, text, fix }) => `${code} ${status}: ${subject} ${text} -> ${fix}`);
}
