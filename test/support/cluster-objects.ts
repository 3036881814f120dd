// Kubernetes objects of a cluster with CSI drivers, as `kubectl create` takes them; what an API server adds is not there.

export const NAMESPACE = "storage";

type Field = "name" | "namespace" | "csiAddress" | "path" | "folder" | "image";
export type SetChanges = Readonly<Partial<Record<Field, string>>> & {
  readonly driverArgs?: readonly string[];
};

export function daemonSet(driver: string, changes: SetChanges = {}) {
  const { name = `${driver.split(".")[0]}-node`, namespace = NAMESPACE, folder = driver } = changes;
  const plugin = `/var/lib/kubelet/plugins/${folder}`;
  const { path = `${plugin}/csi.sock`, driverArgs = [], image = "registrar:v1" } = changes;
  const { csiAddress = "/csi/csi.sock" } = changes;
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } },
  };

  function podSpec() {
    const directory = (path: string) => ({ path, type: "DirectoryOrCreate" });
    return {
      tolerations: [{ operator: "Exists" }],
      containers: [
        {
          name: "registrar",
          image,
          args: [`--csi-address=${csiAddress}`, `--kubelet-registration-path=${path}`],
          volumeMounts: [
            { name: "plugin", mountPath: "/csi" },
            { name: "registration", mountPath: "/registration" },
          ],
        },
        {
          name: "driver",
          image: "driver:v1",
          args: ["--endpoint=unix:///csi/csi.sock", ...driverArgs],
          volumeMounts: [{ name: "plugin", mountPath: "/csi" }],
        },
      ],
      volumes: [
        { name: "plugin", hostPath: directory(plugin) },
        { name: "registration", hostPath: directory("/var/lib/kubelet/plugins_registry") },
      ],
    };
  }
}

/** What a pod has that can write this directory of the host. */
export const onHostPath = (path: string, mount: object = {}) => ({
  containers: [{ name: "x", image: "x:v1", volumeMounts: [{ name: "host", mountPath: "/x", ...mount }] }],
  volumes: [{ name: "host", hostPath: { path } }],
});

/** A set as its controller has it that has made no pod, and what the API server gives it. */
export const storedSet = <Set extends object>(set: Set, uid = "1") =>
  [
    { ...set, status: { currentNumberScheduled: 0, desiredNumberScheduled: 0 } },
    { name: `${NAMESPACE}/x`, namespace: NAMESPACE, uid, createdMs: 0, sentMs: 0 },
  ] as const;

/** A pod of a DaemonSet that was created: on a node, or made for it and not scheduled. */
export function registrarPod(
  set: ReturnType<typeof daemonSet> & { readonly metadata: { readonly uid?: string } },
  node: string,
  { isScheduled = true } = {},
) {
  const { name, namespace, uid = "" } = set.metadata;
  const { metadata, spec } = set.spec.template;
  const terms = [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }];
  const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name, uid, controller: true };
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  const nodeName = isScheduled ? { nodeName: node } : {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `${name}-${node}`, namespace, ...metadata, ownerReferences: [owner] },
    spec: { ...spec, automountServiceAccountToken: false, affinity: { nodeAffinity: required }, ...nodeName },
  };
}

/** How a container of a pod is; `at` is when it was started, or ended. */
export type ContainerChange =
  | { readonly kind: "running"; readonly at: string; readonly restarts?: number; readonly last?: Ended }
  | { readonly kind: "crash-loop"; readonly restarts: number; readonly last: Ended }
  | { readonly kind: "waiting"; readonly reason: string; readonly message: string };

export interface Ended {
  readonly at: string;
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
}

/** The status that kubelet writes for a pod with these containers. */
export function podStatus(containers: Readonly<Record<string, ContainerChange>>) {
  const isRunning = Object.values(containers).every(({ kind }) => kind === "running");
  const isStarted = Object.values(containers).every(({ kind }) => kind !== "waiting");
  return {
    phase: isStarted ? "Running" : "Pending",
    conditions: [{ type: "Ready", status: isRunning ? "True" : "False" }],
    containerStatuses: Object.entries(containers).map(([name, change]) => ({
      name,
      image: `${name}:v1`,
      imageID: "",
      ready: change.kind === "running",
      restartCount: change.kind === "waiting" ? 0 : (change.restarts ?? 0),
      ...stateOf(change),
    })),
  };
}

function stateOf(change: ContainerChange) {
  const terminated = ({ at, exitCode, reason = "Error", message }: Ended) => ({
    terminated: { exitCode, reason, startedAt: at, finishedAt: at, ...(message && { message }) },
  });
  const waiting = (reason: string, message: string) => ({ state: { waiting: { reason, message } } });
  if (change.kind === "waiting") return waiting(change.reason, change.message);
  const lastState = change.last ? { lastState: terminated(change.last) } : {};
  if (change.kind === "running") return { state: { running: { startedAt: change.at } }, ...lastState };
  return { ...waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container"), ...lastState };
}

export const nodeStatus = (isReady: boolean) => {
  const [status, reason] = isReady ? ["True", "KubeletReady"] : ["Unknown", "NodeStatusUnknown"];
  return { conditions: [{ type: "Ready", status, reason }] };
};

/** Kubelet's entry for each driver, name -> node ID; `uid` is of the Node that owns it. */
export function csiNode(name: string, nodeIds: Readonly<Record<string, string>>, uid?: string) {
  const ownerReferences = uid === undefined ? [] : [{ apiVersion: "v1", kind: "Node", name, uid }];
  const entries = Object.entries(nodeIds);
  const drivers = entries.map(([driver, nodeID]) => ({ name: driver, nodeID, topologyKeys: [] }));
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: { name, ownerReferences },
    spec: { drivers },
  };
}

export const csiDriver = (name: string) => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIDriver",
  metadata: { name },
  spec: { attachRequired: true },
});

export const volumeAttachment = (name: string, driver: string, nodeName: string) => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "VolumeAttachment",
  metadata: { name },
  spec: { attacher: driver, nodeName, source: { persistentVolumeName: `pv-${name}` } },
});

export const waitingPod = (name: string, nodeName: string, namespace = "default") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace },
  spec: {
    nodeName,
    automountServiceAccountToken: false,
    containers: [{ name: "app", image: "app:v1", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
  },
});

export const failedMount = (
  pod: { readonly metadata: { readonly name: string; readonly namespace: string; readonly uid?: string } },
  driver: string,
  host: string,
) => {
  const { name, namespace, uid = "" } = pod.metadata;
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.mount`, namespace },
    involvedObject: { apiVersion: "v1", kind: "Pod", name, namespace, uid },
    reason: "FailedMount",
    type: "Warning",
    count: 7,
    lastTimestamp: "2026-01-01T00:00:00Z",
    source: { component: "kubelet", host },
    message:
      `MountVolume.MountDevice failed for volume "pv-${name}" : kubernetes.io/csi: attacher.MountDevice failed to ` +
      `create newCsiDriverClient: driver name ${driver} not found in the list of registered CSI drivers`,
  };
};
