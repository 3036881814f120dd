import type { Manifest } from "./manifest";
import type { ResolvedManifestOptions } from "./options";

/** A pod with a volume of its own, which the driver makes and removes with it. */
export function inlinePod({ driverName, name, namespace }: ResolvedManifestOptions): Manifest {
  return {
    about: [
      "A pod to try it with: `kubectl exec` into it and look at /data. Where the namespace is held to a pod security",
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
    comments: [
      {
        at: ["spec", "volumes", 0, "csi", "volumeAttributes"],
        lines: ["What the driver takes to make the volume: strings only; see its documentation."],
      },
    ],
  };
}
