import type { Manifest } from "./manifest";
import type { ResolvedManifestOptions } from "./options";

/** A StorageClass that asks the driver for volumes. */
export function storageClass({ driverName, storageClassName }: ResolvedManifestOptions): Manifest {
  return {
    about: [
      "PersistentVolumeClaims name it. It needs the driver's controller, with an external-provisioner.",
    ],
    object: {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: storageClassName },
      provisioner: driverName,
      reclaimPolicy: "Delete",
      volumeBindingMode: "WaitForFirstConsumer",
    },
    comments: {
      volumeBindingMode:
        "The volume is created where its first pod runs, so that the node's topology counts.",
    },
  };
}
