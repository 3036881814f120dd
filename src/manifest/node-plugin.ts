import { daemonSet, hostPath } from "./daemon-set";
import { NODE_NAME_VARIABLE, type NodeAccess } from "./node-access";
import type { ResolvedManifestOptions } from "./options";
import { items, scalar, type Yaml, yaml } from "./template";

/** The node plugin: a placeholder of the driver, and the registrar beside it. */
export function nodePlugin(options: ResolvedManifestOptions, access?: NodeAccess): Yaml {
  const { kubeletRoot, pluginPath } = options;
  return daemonSet({
    options,
    access,
    about: yaml`
      # The driver and, beside it, the registrar that tells kubelet of it. ${access ? "Only the registrar is given a token." : "No RBAC: neither is given a token."}
      # Outside of kube-system, allow privileged pods: label the namespace pod-security.kubernetes.io/enforce: privileged.
    `,
    update: yaml`
      updateStrategy:
        type: RollingUpdate
        rollingUpdate:
          maxUnavailable: 10%
          # Never two pods of one driver on a node: kubelet knows one endpoint for a driver's name.
          maxSurge: 0
    `,
    annotations: yaml`annotations: {kubectl.kubernetes.io/default-container: driver}`,
    registrar: {
      args: yaml`
        # The driver's socket as this container sees it, then as kubelet does, on the host.
        - --csi-address=/csi/csi.sock
        - --kubelet-registration-path=${options.kubeletRegistrationPath}
        # A refusal is tried again after 1 s to 30 s, not after the minutes of a crash loop, and alerts see it.
        - --on-registration-failure=retry
        - --http-endpoint=:${options.httpPort}
        - --v=2
      `,
      alive:
        "200 from the first moment, also while the driver is still starting: no startup probe is needed.",
      ready: "200 once kubelet has registered the driver, and as long as the socket is ours.",
      memory: "32Mi",
      maxMemory: "100Mi",
      mount: yaml`- {name: plugin-dir, mountPath: /csi, readOnly: true}`,
    },
    driver: driverContainer(options),
    folder: hostPath("plugin-dir", pluginPath, "DirectoryOrCreate"),
    volumes: yaml`
      ${hostPath("pods-dir", `${kubeletRoot}/pods`)}
      ${hostPath("plugins-dir", `${kubeletRoot}/plugins`)}
      ${hostPath("dev-dir", "/dev")}
    `,
  });
}

const driverContainer = ({ driverImage, driverArgs, kubeletRoot }: ResolvedManifestOptions) => yaml`
  # A placeholder for your driver: correct its arguments, privileges, mounts and resources. It must listen on
  # /csi/csi.sock and answer NodeGetInfo with a node ID.
  - name: driver
    image: ${scalar(driverImage)}
    args:${driverArgs.length === 0 ? " []" : ""}
      ${items(driverArgs)}
    env: [${NODE_NAME_VARIABLE}]
    securityContext: {privileged: true}
    resources:
      requests: {cpu: 10m, memory: 32Mi}
    volumeMounts:
      - {name: plugin-dir, mountPath: /csi}
      # Volumes are mounted below these; without Bidirectional, pods would see empty directories.
      - name: pods-dir
        mountPath: ${kubeletRoot}/pods
        mountPropagation: Bidirectional
      - name: plugins-dir
        mountPath: ${kubeletRoot}/plugins
        mountPropagation: Bidirectional
      - {name: dev-dir, mountPath: /dev}
`;
