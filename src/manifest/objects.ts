import dashboard from "./dashboard.json";
import type { ResolvedBasics, ResolvedManifestOptions } from "./options";
import { items, scalar, type Yaml, yaml } from "./template";

export const ownNamespace = ({ namespace }: Pick<ResolvedBasics, "namespace">): Yaml => yaml`
  # Pod security standards, which some clusters enforce by default, forbid hostPath volumes: this namespace is excepted.
  apiVersion: v1
  kind: Namespace
  metadata:
    name: ${scalar(namespace)}
    labels: {pod-security.kubernetes.io/enforce: privileged}
`;

const FS_GROUP = {
  ReadWriteOnceWithFSType:
    "Kubelet gives files to the pod's fsGroup if the volume has a file system and one writer.",
  File: "Kubelet always gives the volume's files to the pod's fsGroup.",
  None: "Kubelet leaves the owner of the volume's files alone.",
} as const;

/** What the cluster must know about the driver: CSIDriver of storage.k8s.io/v1. */
export function csiDriver(options: ResolvedManifestOptions): Yaml {
  const { driverName, attachRequired, podInfoOnMount, storageCapacity, fsGroupPolicy } = options;
  const { nodeAllocatableUpdatePeriod: period } = options;
  const audiences = options.tokenAudiences.map((audience) => ({ audience }));
  const attach = attachRequired
    ? "Kubelet mounts a volume once it is attached: run an external-attacher with the controller."
    : "There is nothing to attach, so kubelet does not wait for an external-attacher.";
  const podInfo = podInfoOnMount
    ? "NodePublishVolume gets the pod's name, and whether the volume is an inline one."
    : "NodePublishVolume does not get the pod's name.";
  const capacity = storageCapacity
    ? "The scheduler reads CSIStorageCapacity objects, which the external-provisioner must publish."
    : "The scheduler does not check the free capacity.";
  // An older API server refuses a field that it does not know: these are written only on request.
  const limits = yaml`
    # Kubelet asks for the volume limit again at this interval: Kubernetes 1.35 or later. Before 1.33 the field is unknown.
    nodeAllocatableUpdatePeriodSeconds: ${period}
  `;
  const prevent = yaml`
    # The scheduler keeps pods with claims off nodes where the driver is not registered: Kubernetes 1.37 or later; 1.35 and
    # 1.36 need the feature gate VolumeLimitScaling. Cluster Autoscaler needs --enable-csi-node-aware-scheduling=true.
    preventPodSchedulingIfMissing: true
  `;
  const tokens = yaml`
    # Tokens of the pod's service account. A driver that uses them after the mount also needs requiresRepublish: true.
    tokenRequests: ${JSON.stringify(audiences)}
  `;
  const inSecrets = yaml`
    # The tokens are in the secrets of NodePublishVolume, not in its volume context: Kubernetes 1.35 or later.
    serviceAccountTokenInSecrets: true
  `;
  return yaml`
    # What the cluster must know about the driver. attachRequired and the modes cannot be changed later.
    apiVersion: storage.k8s.io/v1
    kind: CSIDriver
    metadata:
      name: ${scalar(driverName)}
    spec:
      # ${attach}
      attachRequired: ${attachRequired}
      # ${podInfo}
      podInfoOnMount: ${podInfoOnMount}
      # Persistent: by PersistentVolumeClaim. Ephemeral: inline in a pod; NodePublishVolume must then create the volume.
      volumeLifecycleModes:
        ${items(options.lifecycleModes)}
      # ${FS_GROUP[fsGroupPolicy]}
      fsGroupPolicy: ${fsGroupPolicy}
      # ${capacity}
      storageCapacity: ${storageCapacity}
      ${period > 0 && limits}
      ${options.preventPodSchedulingIfMissing && prevent}
      ${audiences.length > 0 && tokens}
      ${options.serviceAccountTokenInSecrets && inSecrets}
  `;
}

export const storageClass = ({ driverName, storageClassName }: ResolvedManifestOptions): Yaml => yaml`
  # PersistentVolumeClaims name it. It needs the driver's controller, with an external-provisioner.
  apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata:
    name: ${scalar(storageClassName)}
  provisioner: ${scalar(driverName)}
  reclaimPolicy: Delete
  # The volume is created where its first pod runs, so that the node's topology counts.
  volumeBindingMode: WaitForFirstConsumer
`;

/** A pod with an inline volume, which the driver creates and deletes with the pod. */
export const inlinePod = ({ driverName, name, namespace }: ResolvedManifestOptions): Yaml => yaml`
  # A pod to try the driver: \`kubectl exec\` into it and look at /data. If the namespace enforces a pod security
  # standard, the CSIDriver needs the label security.kubernetes.io/csi-ephemeral-volume-profile.
  apiVersion: v1
  kind: Pod
  metadata:
    name: ${scalar(`${name.slice(0, 56)}-inline`)}
    namespace: ${scalar(namespace)}
  spec:
    terminationGracePeriodSeconds: 1
    containers:
      - name: shell
        image: busybox:1.37
        command: [sleep, infinity]
        volumeMounts:
          - {name: data, mountPath: /data}
    volumes:
      - name: data
        csi:
          driver: ${scalar(driverName)}
          # Parameters for the driver, strings only: see its documentation.
          volumeAttributes: {}
`;

/** How Prometheus finds the registrars' metrics: PodMonitor of the Prometheus Operator. */
export const podMonitor = ({ name, namespace }: Pick<ResolvedBasics, "name" | "namespace">): Yaml => yaml`
  # Your Prometheus loads only the PodMonitors that its podMonitorSelector matches: add the labels that it requires.
  apiVersion: monitoring.coreos.com/v1
  kind: PodMonitor
  metadata:
    name: ${scalar(name)}
    namespace: ${scalar(namespace)}
  spec:
    selector:
      matchLabels:
        app.kubernetes.io/name: ${scalar(name)}
    podMetricsEndpoints:
      - port: healthz
        path: /metrics
        interval: 30s
        # A registration belongs to a node: put the node's name on it, in alerts too.
        relabelings:
          - {sourceLabels: [__meta_kubernetes_pod_node_name], targetLabel: node}
`;

/** Grafana's dashboard, as the sidecar of Grafana's chart finds it. */
export const dashboardConfigMap = ({ namespace }: Pick<ResolvedBasics, "namespace">): Yaml => yaml`
  # The sidecar of Grafana's chart loads ConfigMaps with this label, by default from Grafana's own namespace only.
  apiVersion: v1
  kind: ConfigMap
  metadata:
    name: registrar-dashboard
    namespace: ${scalar(namespace)}
    labels:
      grafana_dashboard: "1"
  data:
    csi-registrar.json: |
      ${{ lines: JSON.stringify(dashboard, undefined, 2).split("\n") }}
`;
