import { NODE_NAME_VARIABLE, type NodeAccess } from "./node-access";
import type { ManifestOptions, ResolvedBasics, ResolvedManifestOptions } from "./options";
import { items, object, scalar, type Yaml, yaml } from "./template";

interface DaemonSetParts extends Readonly<Record<"about" | "update" | "args" | "mount" | "ready", Yaml>> {
  readonly memory: readonly [request: string, limit: string];
  readonly driver?: Yaml;
  readonly socketDirectory: Yaml;
  readonly volumes?: Yaml;
}

/** Makes a DaemonSet for every Linux node or for `nodes`, whatever their taints. Without `access` it has no token. */
function daemonSet(
  options: ResolvedBasics & Pick<ManifestOptions, "nodes">,
  access: NodeAccess | undefined,
  { driver, ...parts }: DaemonSetParts,
): Yaml {
  const name = scalar(options.name);
  const isOpenShift = options.distribution === "openshift";
  return yaml`
    ${parts.about}
    # Outside of kube-system the namespace must allow such pods: label it pod-security.kubernetes.io/enforce=privileged.
    ${object("apps/v1", "DaemonSet", options.name, options.namespace)}
      labels:
        app.kubernetes.io/name: ${name}
    spec:
      selector:
        matchLabels:
          app.kubernetes.io/name: ${name}
      ${parts.update}
      template:
        metadata:
          labels:
            app.kubernetes.io/name: ${name}
          ${(isOpenShift || driver !== undefined) && yaml`annotations:`}
            ${driver && yaml`kubectl.kubernetes.io/default-container: driver`}
            ${isOpenShift && yaml`openshift.io/required-scc: privileged`}
        spec:
          # A node without its registrar runs no pod that has a volume: start early, go last.
          priorityClassName: system-node-critical
          tolerations:
            - operator: Exists
          nodeSelector:
            kubernetes.io/os: linux
          ${options.nodes && affinityTo(options.nodes)}
          automountServiceAccountToken: false
          ${(isOpenShift || access !== undefined) && yaml`serviceAccountName: ${name}`}
          containers:
            ${registrarContainer(options, access, parts)}
            ${driver}
          volumes:
            ${parts.socketDirectory}
            # Directory, not DirectoryOrCreate: with a wrong --kubelet-root the pod does not start, and says why.
            - name: registration-dir
              hostPath:
                path: ${options.kubeletRoot}/plugins_registry
                type: Directory
            ${parts.volumes}
            ${access?.volume}
  `;
}

const registrarContainer = (
  options: ResolvedBasics,
  access: NodeAccess | undefined,
  parts: Pick<DaemonSetParts, "args" | "memory" | "mount" | "ready">,
) => yaml`
  - name: registrar
    image: ${scalar(options.image)}
    args:
      ${parts.args}
      ${access?.args}
    ${access?.env}
    ports:
      - {name: healthz, containerPort: ${options.httpPort}}
    # 200 from the first moment, also while drivers are still starting: no startup probe is needed.
    livenessProbe:
      httpGet: {path: /healthz, port: healthz}
      initialDelaySeconds: 20
      periodSeconds: 20
      timeoutSeconds: 10
      failureThreshold: 3
    ${parts.ready}
    readinessProbe:
      httpGet: {path: /readyz, port: healthz}
      periodSeconds: 5
    # \`kubectl describe pod\` then shows why it ended.
    terminationMessagePolicy: FallbackToLogsOnError
    # plugins_registry belongs to root. Nodes that enforce SELinux also need \`seLinuxOptions: {type: spc_t}\`.
    securityContext:
      ${options.distribution === "openshift" && yaml`seLinuxOptions: {type: spc_t}`}
      runAsUser: 0
      runAsGroup: 0
      readOnlyRootFilesystem: true
      allowPrivilegeEscalation: false
      capabilities: {drop: [ALL]}
      seccompProfile: {type: RuntimeDefault}
    resources:
      requests: {cpu: 10m, memory: ${parts.memory[0]}}
      limits: {memory: ${parts.memory[1]}}
    volumeMounts:
      ${parts.mount}
      - {name: registration-dir, mountPath: /registration}
      ${access?.mount}
`;

/** A term has one name only. */
const affinityTo = (nodes: readonly string[]) => yaml`
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          ${nodes.map((node) => yaml`- matchFields: [{key: metadata.name, operator: In, values: [${JSON.stringify(node)}]}]`)}
`;

const hostPath = (name: string, path: string, type = "Directory") => yaml`
  - name: ${name}
    hostPath:
      path: ${path}
      type: ${type}
`;

export function nodePlugin(options: ResolvedManifestOptions, access?: NodeAccess): Yaml {
  const { kubeletRoot } = options;
  return daemonSet(options, access, {
    about: yaml`# The driver, and the registrar beside it. ${access ? "Only the registrar" : "Neither"} is given a token.`,
    update: yaml`
      updateStrategy:
        type: RollingUpdate
        rollingUpdate:
          maxUnavailable: 10%
          # Never two pods of one driver on a node: kubelet knows one endpoint for a driver's name.
          maxSurge: 0
    `,
    args: yaml`
      # The driver's socket as this container sees it, then as kubelet does, on the host.
      - --csi-address=/csi/csi.sock
      - --kubelet-registration-path=${options.kubeletRegistrationPath}
      # A refusal does not end the container: the first nine are tried again after 2 s to 18 s, and alerts see them.
      - --on-registration-failure=retry
      - --http-endpoint=:${options.httpPort}
      - --v=2
    `,
    ready: yaml`# 200 while kubelet has the driver registered.`,
    memory: ["64Mi", "100Mi"],
    mount: yaml`- {name: plugin-dir, mountPath: /csi, readOnly: true}`,
    driver: driverContainer(options),
    socketDirectory: hostPath("plugin-dir", options.pluginPath, "DirectoryOrCreate"),
    volumes: yaml`
      ${hostPath("pods-dir", `${kubeletRoot}/pods`)}
      ${hostPath("plugins-dir", `${kubeletRoot}/plugins`)}
      ${hostPath("dev-dir", "/dev")}
    `,
  });
}

const driverContainer = ({ driverImage, driverArgs, kubeletRoot }: ResolvedManifestOptions) => yaml`
  # A placeholder for your driver, which must listen on /csi/csi.sock: correct arguments, privileges and mounts.
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

/** One registrar for every driver of a node. `examples/node-wide.yaml` explains each part. */
export function nodeWideDaemonSet(
  options: ResolvedBasics & Pick<ManifestOptions, "allowDrivers" | "nodes">,
  access?: NodeAccess,
): Yaml {
  const { kubeletRoot, httpPort, allowDrivers } = options;
  return daemonSet(options, access, {
    about: yaml`# One registrar on each node for every CSI driver there. When to choose it: docs/node-wide.md.`,
    update: yaml`
      minReadySeconds: 10
      updateStrategy:
        type: RollingUpdate
        rollingUpdate:
          # The new registrar stands by as long as the old one runs, then takes over.
          maxSurge: 1
          maxUnavailable: 0
    `,
    args: yaml`
      # Each * stands for the same text in both.
      - --csi-address=/plugins/*/csi.sock
      - --kubelet-registration-path=${kubeletRoot}/plugins/*/csi.sock
      - --http-endpoint=:${httpPort}
      - --v=2
      ${allowDrivers !== undefined && items([`--allow-drivers=${allowDrivers}`])}
    `,
    ready: yaml`# 200 while every driver that counts is registered: docs/node-wide.md says which do.`,
    memory: ["64Mi", "200Mi"],
    mount: yaml`
      - name: plugins-dir
        mountPath: /plugins
        readOnly: true
        # Without it the container keeps a copy of each mount, and volumes stay busy.
        mountPropagation: HostToContainer
    `,
    socketDirectory: hostPath("plugins-dir", `${kubeletRoot}/plugins`),
  });
}
