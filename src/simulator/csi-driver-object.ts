/**
 * Kubernetes' CSIDriver, which tells a cluster about a driver, with every default. Kubelet uses the same defaults without
 * the object; nothing on a node creates one.
 * Sources: `SetDefaults_CSIDriver` in `pkg/apis/storage/v1/defaults.go`; `skipAttach` and `podInfoEnabled` in
 * `pkg/volume/csi/csi_plugin.go`, `getFSGroupPolicy` and `supportsVolumeLifecycleMode` in `csi_mounter.go`.
 */
export function defaultCsiDriver(name: string) {
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
