import type { ResolvedBasics, ResolvedManifestOptions } from "./options";
import { items, object, type Yaml, yaml } from "./template";

export const ownNamespace = ({ namespace }: Pick<ResolvedBasics, "namespace">): Yaml => yaml`
  # Pod security standards, which some clusters enforce by default, forbid hostPath volumes: this namespace is excepted.
  ${object("v1", "Namespace", namespace)}
    labels: {pod-security.kubernetes.io/enforce: privileged}
`;

export function csiDriver(options: ResolvedManifestOptions): Yaml {
  const { driverName, nodeAllocatableUpdatePeriod: period } = options;
  const audiences = options.tokenAudiences.map((audience) => ({ audience }));
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
    ${object("storage.k8s.io/v1", "CSIDriver", driverName)}
    spec:
      # true: kubelet mounts a volume once the controller's external-attacher has attached it.
      attachRequired: ${options.attachRequired}
      # true: NodePublishVolume gets the pod's name, and whether the volume is an inline one.
      podInfoOnMount: ${options.podInfoOnMount}
      # Persistent: by PersistentVolumeClaim. Ephemeral: inline in a pod; NodePublishVolume must then create the volume.
      volumeLifecycleModes:
        ${items(options.lifecycleModes)}
      # Whether the pod's fsGroup gets the files: if there is a file system and one writer, always (File), or never (None).
      fsGroupPolicy: ${options.fsGroupPolicy}
      # true: the scheduler reads CSIStorageCapacity objects, which the external-provisioner must publish.
      storageCapacity: ${options.storageCapacity}
      ${period > 0 && limits}
      ${options.preventPodSchedulingIfMissing && prevent}
      ${audiences.length > 0 && tokens}
      ${options.serviceAccountTokenInSecrets && inSecrets}
  `;
}
