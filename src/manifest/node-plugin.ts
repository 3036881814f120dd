import { daemonSetObject, hostPath, POD } from "./daemon-set";
import type { Manifest } from "./manifest";
import type { ResolvedManifestOptions } from "./options";
import { registrarComments, registrarContainer } from "./registrar-container";

const DRIVER_CONTAINER = "driver";

/** The node plugin: the driver, of which much must be guessed, and the registrar beside it, on every Linux node. */
export function nodePlugin(options: ResolvedManifestOptions): Manifest {
  const { kubeletRoot, pluginPath } = options;
  return {
    about: [
      "The driver and, beside it, the registrar that tells kubelet of it. No RBAC: neither is given a token.",
      "Outside of kube-system, allow privileged pods: label the namespace pod-security.kubernetes.io/enforce: privileged.",
    ],
    object: daemonSetObject({
      ...options,
      rollingUpdate: { maxUnavailable: "10%", maxSurge: 0 },
      defaultContainer: DRIVER_CONTAINER,
      containers: [registrarContainer(options), driverContainer(options)],
      volumes: [
        hostPath("plugin-dir", pluginPath, "DirectoryOrCreate"),
        hostPath("registration-dir", `${kubeletRoot}/plugins_registry`),
        hostPath("pods-dir", `${kubeletRoot}/pods`),
        hostPath("plugins-dir", `${kubeletRoot}/plugins`),
        hostPath("dev-dir", "/dev"),
      ],
    }),
    comments: {
      "spec.updateStrategy.rollingUpdate.maxSurge":
        "Never two pods of one driver on a node: kubelet knows one endpoint for a driver's name.",
      [`${POD}.priorityClassName`]:
        "A node without its node plugin runs no pod that has a volume: start early, go last.",
      ...registrarComments(`${POD}.containers.0`),
      [`${POD}.containers.1`]: [
        "A placeholder for your driver: correct its arguments, privileges, mounts and resources. It must listen on",
        "/csi/csi.sock and answer NodeGetInfo with a node ID.",
      ],
      [`${POD}.containers.1.volumeMounts.1`]:
        "Volumes are mounted below these; without Bidirectional, pods would see empty directories.",
      [`${POD}.volumes.1`]: [
        "Where kubelet looks for registration sockets. Directory, not DirectoryOrCreate: if it is missing, the path is",
        "wrong for this node (see --kubelet-root), and a pod that cannot start says so.",
      ],
    },
  };
}

function driverContainer({ driverImage, driverArgs, kubeletRoot }: ResolvedManifestOptions) {
  const mounted = (name: string, mountPath: string) => ({
    name,
    mountPath,
    mountPropagation: "Bidirectional",
  });
  return {
    name: DRIVER_CONTAINER,
    image: driverImage,
    args: driverArgs,
    env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
    securityContext: { privileged: true },
    resources: { requests: { cpu: "10m", memory: "32Mi" } },
    volumeMounts: [
      { name: "plugin-dir", mountPath: "/csi" },
      mounted("pods-dir", `${kubeletRoot}/pods`),
      mounted("plugins-dir", `${kubeletRoot}/plugins`),
      { name: "dev-dir", mountPath: "/dev" },
    ],
  };
}
