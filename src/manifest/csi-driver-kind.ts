import type { Comments, Manifest } from "./manifest";
import type { ResolvedManifestOptions } from "./options";

/** What the cluster must know about the driver: CSIDriver of storage.k8s.io/v1. */
export function csiDriver(options: ResolvedManifestOptions): Manifest {
  const { driverName, attachRequired, podInfoOnMount, storageCapacity } = options;
  return {
    about: [
      "What the cluster must know about the driver. attachRequired and the modes cannot be changed later.",
    ],
    object: {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIDriver",
      metadata: { name: driverName },
      spec: {
        attachRequired,
        podInfoOnMount,
        volumeLifecycleModes: options.lifecycleModes,
        fsGroupPolicy: options.fsGroupPolicy,
        storageCapacity,
      },
    },
    comments: comments(options),
  };
}

function comments(options: ResolvedManifestOptions): Comments {
  const { attachRequired, podInfoOnMount, fsGroupPolicy, storageCapacity } = options;
  const fsGroup = {
    ReadWriteOnceWithFSType:
      "Kubelet gives files to the pod's fsGroup if the volume has a file system and one writer.",
    File: "Kubelet always gives the volume's files to the pod's fsGroup.",
    None: "Kubelet leaves the owner of the volume's files alone.",
  };
  return {
    "spec.attachRequired": attachRequired
      ? "Kubelet mounts a volume once it is attached: run an external-attacher with the controller."
      : "There is nothing to attach, so kubelet does not wait for an external-attacher.",
    "spec.podInfoOnMount": podInfoOnMount
      ? "NodePublishVolume gets the pod's name, and whether the volume is an inline one."
      : "NodePublishVolume does not get the pod's name.",
    "spec.volumeLifecycleModes": [
      "Persistent: by PersistentVolumeClaim. Ephemeral: inline in a pod, created and deleted with it; the driver must",
      "support that by creating the volume in NodePublishVolume.",
    ],
    "spec.fsGroupPolicy": fsGroup[fsGroupPolicy],
    "spec.storageCapacity": storageCapacity
      ? "The scheduler reads CSIStorageCapacity objects, which the external-provisioner must publish."
      : "The scheduler does not check the free capacity.",
  };
}
