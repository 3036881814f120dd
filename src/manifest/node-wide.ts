import type { Manifest } from "./manifest";
import { checkHostPath, checkImage, checkLabel, refuse } from "./names";
import { HEALTH_PORT_NAME, registrarBasics } from "./registrar-container";

/** What the DaemonSet of a node-wide registrar is made of. */
export interface NodeWideOptions {
  /** Image of the registrar. */
  readonly image: string;
  /** Name of the DaemonSet. Default `csi-registrar`. */
  readonly name?: string | undefined;
  /** Default `kube-system`. */
  readonly namespace?: string | undefined;
  /** Kubelet's --root-dir. Default `/var/lib/kubelet`. */
  readonly kubeletRoot?: string | undefined;
  /** Where the registrar serves health and metrics. Default 9809. */
  readonly httpPort?: number | undefined;
}

/**
 * One registrar for every driver of a node: no driver container, and one folder of the host beside kubelet's own. As
 * `examples/node-wide.yaml`, which explains each part. Throws INVALID_OPTION for names that the API server
 * would refuse.
 */
export function nodeWideDaemonSet(options: NodeWideOptions): Manifest {
  const { image, name = "csi-registrar", namespace = "kube-system", httpPort = 9809 } = options;
  const kubeletRoot = options.kubeletRoot ?? "/var/lib/kubelet";
  checkImage("image", image);
  checkLabel("name", name);
  checkLabel("namespace", namespace);
  checkHostPath("kubelet-root", kubeletRoot);
  if (!(Number.isInteger(httpPort) && httpPort >= 1 && httpPort <= 65_535))
    refuse("http-port", String(httpPort), "must be from 1 to 65535");

  const labels = { "app.kubernetes.io/name": name };
  const folder = (volume: string, path: string) => ({
    name: volume,
    hostPath: { path: `${kubeletRoot}/${path}`, type: "Directory" },
  });
  const container = ["spec", "template", "spec", "containers", 0];
  return {
    about: [
      "One registrar on each node for every CSI driver there, in place of a sidecar in each driver's DaemonSet.",
      "When to choose it: docs/node-wide.md.",
    ],
    object: {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name, namespace, labels },
      spec: {
        selector: { matchLabels: labels },
        minReadySeconds: 10,
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: {
          metadata: { labels },
          spec: {
            priorityClassName: "system-node-critical",
            tolerations: [{ operator: "Exists" }],
            nodeSelector: { "kubernetes.io/os": "linux" },
            automountServiceAccountToken: false,
            containers: [
              {
                name: "registrar",
                image,
                args: [
                  "--csi-address=/plugins/*/csi.sock",
                  `--kubelet-registration-path=${kubeletRoot}/plugins/*/csi.sock`,
                  `--http-endpoint=:${httpPort}`,
                  "--v=2",
                ],
                ports: [{ name: HEALTH_PORT_NAME, containerPort: httpPort }],
                ...registrarBasics,
                resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "200Mi" } },
                volumeMounts: [
                  {
                    name: "plugins-dir",
                    mountPath: "/plugins",
                    readOnly: true,
                    mountPropagation: "HostToContainer",
                  },
                  { name: "registration-dir", mountPath: "/registration" },
                ],
              },
            ],
            volumes: [folder("plugins-dir", "plugins"), folder("registration-dir", "plugins_registry")],
          },
        },
      },
    },
    comments: [
      {
        at: ["spec", "updateStrategy", "rollingUpdate", "maxSurge"],
        lines: ["The new registrar stands by as long as the old one runs, then takes over."],
      },
      { at: [...container, "args", 0], lines: ["Each * stands for the same text in both."] },
      {
        at: [...container, "volumeMounts", 0, "mountPropagation"],
        lines: ["Without it the container keeps a copy of each mount, and volumes stay busy."],
      },
    ],
  };
}
