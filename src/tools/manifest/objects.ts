import type { ResolvedBasics, ResolvedManifestOptions } from "./options";
import { items, object, type Yaml, yaml } from "./template";

export const ownNamespace = ({ namespace }: Pick<ResolvedBasics, "namespace">): Yaml => yaml`
  # Pod security standards, which some clusters enforce by default, forbid hostPath volumes: this namespace is excepted.
  ${object("v1", "Namespace", namespace)}
    labels: {pod-security.kubernetes.io/enforce: privileged}
`;

export function csiDriver(options: ResolvedManifestOptions): Yaml {
  return yaml`
    # What the cluster must know about the driver. attachRequired and the modes cannot be changed later.
    ${object("storage.k8s.io/v1", "CSIDriver", options.driverName)}
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
  `;
}
