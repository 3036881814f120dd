import { daemonSetObject, hostPath, POD } from "./daemon-set";
import type { Manifest } from "./manifest";
import { type BasicOptions, type ResolvedBasics, resolveBasics } from "./options";
import { HEALTH_PORT_NAME, registrarBasics } from "./registrar-container";

/** What a node-wide registrar's DaemonSet is made of. */
export interface NodeWideOptions extends BasicOptions {
  /** The registrar's own `--allow-drivers`, with its paths as the container sees them: `/plugins/...`. Default: all. */
  readonly allowDrivers?: string | undefined;
}

/**
 * One registrar for every driver of a node: no driver container, and one folder of the host beside kubelet's own. As
 * `examples/node-wide.yaml`, which explains each part. Throws INVALID_OPTION for names that the API server
 * would refuse.
 */
export function nodeWideDaemonSet(options: NodeWideOptions): Manifest {
  const basics = resolveNodeWide(options);
  const { image, kubeletRoot, httpPort } = basics;
  const container = `${POD}.containers.0`;
  return {
    about: [
      "One registrar on each node for every CSI driver there, in place of a sidecar in each driver's DaemonSet.",
      "When to choose it: docs/node-wide.md.",
    ],
    object: daemonSetObject({
      ...basics,
      minReadySeconds: 10,
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
      containers: [
        {
          name: "registrar",
          image,
          args: [
            "--csi-address=/plugins/*/csi.sock",
            `--kubelet-registration-path=${kubeletRoot}/plugins/*/csi.sock`,
            `--http-endpoint=:${httpPort}`,
            "--v=2",
            ...(options.allowDrivers ? [`--allow-drivers=${options.allowDrivers}`] : []),
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
      volumes: [
        hostPath("plugins-dir", `${kubeletRoot}/plugins`),
        hostPath("registration-dir", `${kubeletRoot}/plugins_registry`),
      ],
    }),
    comments: {
      "spec.updateStrategy.rollingUpdate.maxSurge":
        "The new registrar stands by as long as the old one runs, then takes over.",
      [`${container}.args.0`]: "Each * stands for the same text in both.",
      [`${container}.volumeMounts.0.mountPropagation`]:
        "Without it the container keeps a copy of each mount, and volumes stay busy.",
    },
  };
}

/** The options with their defaults, where one registrar serves all drivers. Throws INVALID_OPTION. */
export function resolveNodeWide(options: BasicOptions): ResolvedBasics {
  return resolveBasics(options, "csi-registrar");
}
