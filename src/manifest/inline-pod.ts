import type { Manifest } from "./manifest";
import type { ResolvedManifestOptions } from "./options";

/** A pod with an inline volume, which the driver creates and deletes with the pod. */
export function inlinePod({ driverName, name, namespace }: ResolvedManifestOptions): Manifest {
  return {
    about: [
      "A pod to try the driver: `kubectl exec` into it and look at /data. If the namespace enforces a pod security",
      "standard, the CSIDriver needs the label security.kubernetes.io/csi-ephemeral-volume-profile.",
    ],
    object: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `${name.slice(0, 56)}-inline`, namespace },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: "shell",
            image: "busybox:1.37",
            command: ["sleep", "infinity"],
            volumeMounts: [{ name: "data", mountPath: "/data" }],
          },
        ],
        volumes: [{ name: "data", csi: { driver: driverName, volumeAttributes: {} } }],
      },
    },
    comments: {
      "spec.volumes.0.csi.volumeAttributes":
        "Parameters for the driver, strings only: see its documentation.",
    },
  };
}
