import type { Manifest } from "./manifest";
import type { ResolvedManifestOptions } from "./options";
import { registrarComments, registrarContainer } from "./registrar-container";

/** The label that selects the pods. */
export function podLabels({ name }: ResolvedManifestOptions) {
  return { "app.kubernetes.io/name": name };
}

/** The node plugin on every Linux node: the registrar, and a placeholder for the driver. */
export function daemonSet(options: ResolvedManifestOptions): Manifest {
  const { name, namespace, kubeletRoot, pluginPath } = options;
  const labels = podLabels(options);
  const containers = ["spec", "template", "spec", "containers"];
  return {
    about: [
      "The driver, and the registrar that registers it with kubelet. There is no RBAC because neither gets a token.",
      "Outside of kube-system, allow privileged pods: label the namespace pod-security.kubernetes.io/enforce: privileged.",
    ],
    object: {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name, namespace, labels },
      spec: {
        selector: { matchLabels: labels },
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%", maxSurge: 0 } },
        template: {
          metadata: { labels },
          spec: {
            priorityClassName: "system-node-critical",
            tolerations: [{ operator: "Exists" }],
            nodeSelector: { "kubernetes.io/os": "linux" },
            automountServiceAccountToken: false,
            containers: [registrarContainer(options), driverContainer(options)],
            volumes: [
              hostPath("plugin-dir", pluginPath, "DirectoryOrCreate"),
              hostPath("registration-dir", `${kubeletRoot}/plugins_registry`, "Directory"),
              hostPath("pods-dir", `${kubeletRoot}/pods`, "Directory"),
              hostPath("plugins-dir", `${kubeletRoot}/plugins`, "Directory"),
              hostPath("dev-dir", "/dev", "Directory"),
            ],
          },
        },
      },
    },
    comments: [
      {
        at: ["spec", "updateStrategy", "rollingUpdate", "maxSurge"],
        lines: ["Never two pods of one driver on a node: kubelet keeps one endpoint for a driver's name."],
      },
      {
        at: ["spec", "template", "spec", "priorityClassName"],
        lines: ["A node without its node plugin cannot run pods with volumes: start early, stop last."],
      },
      ...registrarComments([...containers, 0]),
      {
        at: [...containers, 1],
        lines: [
          "A placeholder for your driver: correct its arguments, privileges, mounts and resources. It must listen on",
          "/csi/csi.sock and answer NodeGetInfo with a node ID.",
        ],
      },
      {
        at: [...containers, 1, "volumeMounts", 1],
        lines: ["Volumes are mounted below these; without Bidirectional, pods would see empty directories."],
      },
      {
        at: ["spec", "template", "spec", "volumes", 1],
        lines: [
          "Where kubelet looks for registration sockets. Directory, not DirectoryOrCreate: if it is missing, the path is",
          "wrong for this node (see --kubelet-root), and the pod does not start.",
        ],
      },
    ],
  };
}

function driverContainer({ driverImage, driverArgs, kubeletRoot }: ResolvedManifestOptions) {
  const mounted = (name: string, mountPath: string) => ({
    name,
    mountPath,
    mountPropagation: "Bidirectional",
  });
  return {
    name: "driver",
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

function hostPath(name: string, path: string, type: "Directory" | "DirectoryOrCreate") {
  return { name, hostPath: { path, type } };
}
