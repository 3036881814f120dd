/** Kubernetes' CSIDriver: what a cluster must know about a driver. Nothing on a node writes it today. */
export interface CsiDriverObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "CSIDriver";
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly attachRequired: boolean;
    readonly podInfoOnMount: boolean;
    readonly fsGroupPolicy: "ReadWriteOnceWithFSType" | "File" | "None";
    readonly volumeLifecycleModes: readonly ("Persistent" | "Ephemeral")[];
    readonly storageCapacity: boolean;
    readonly requiresRepublish: boolean;
  };
}

/**
 * The object with every default, which kubelet also uses if nobody created one.
 * Sources: `SetDefaults_CSIDriver` in `pkg/apis/storage/v1/defaults.go`; `skipAttach` and `podInfoEnabled` in
 * `pkg/volume/csi/csi_plugin.go`, `getFSGroupPolicy` and `supportsVolumeLifecycleMode` in `csi_mounter.go`.
 */
export function defaultCsiDriver(name: string): CsiDriverObject {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name },
    spec: {
      attachRequired: true,
      podInfoOnMount: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      volumeLifecycleModes: ["Persistent"],
      storageCapacity: false,
      requiresRepublish: false,
    },
  };
}
