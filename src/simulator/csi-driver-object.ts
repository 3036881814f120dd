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

/** CSIDriver as a custom resource, before Kubernetes 1.14 made it an object of its own. */
export interface LegacyCsiDriverObject {
  readonly apiVersion: "csi.storage.k8s.io/v1alpha1";
  readonly kind: "CSIDriver";
  readonly metadata: { readonly name: string };
  readonly spec: { readonly attachRequired: boolean; readonly podInfoOnMountVersion: string };
}

/** What driver-registrar created with its default flags: `kubernetesRegister` in its `k8s_register.go`. */
export function legacyCsiDriver(name: string): LegacyCsiDriverObject {
  return {
    apiVersion: "csi.storage.k8s.io/v1alpha1",
    kind: "CSIDriver",
    metadata: { name },
    spec: { attachRequired: true, podInfoOnMountVersion: "" },
  };
}
