import type { NodeAccess } from "./node-access";
import type { ResolvedBasics } from "./options";
import { scalar, type Yaml, yaml } from "./template";

/** The differences between the two DaemonSets. */
interface DaemonSetParts {
  readonly options: ResolvedBasics;
  readonly access: NodeAccess | undefined;
  readonly about: Yaml;
  /** Fields of its spec. */
  readonly update: Yaml;
  readonly annotations?: Yaml;
  readonly registrar: {
    readonly args: Yaml;
    /** When the probes answer 200. */
    readonly alive: string;
    readonly ready: string;
    readonly memory: string;
    readonly maxMemory: string;
    readonly mount: Yaml;
  };
  readonly driver?: Yaml;
  /** The folder of the drivers' sockets. */
  readonly folder: Yaml;
  readonly volumes?: Yaml;
}

/** Makes a DaemonSet for every Linux node, whatever its taints. Without `access` it has no token. */
export function daemonSet({ options, access, registrar, ...parts }: DaemonSetParts): Yaml {
  const { about, update, annotations, driver, folder, volumes } = parts;
  const name = scalar(options.name);
  return yaml`
    ${about}
    apiVersion: apps/v1
    kind: DaemonSet
    metadata:
      name: ${name}
      namespace: ${scalar(options.namespace)}
      labels:
        app.kubernetes.io/name: ${name}
    spec:
      selector:
        matchLabels:
          app.kubernetes.io/name: ${name}
      ${update}
      template:
        metadata:
          labels:
            app.kubernetes.io/name: ${name}
          ${annotations}
        spec:
          # A node without its registrar runs no pod that has a volume: start early, go last.
          priorityClassName: system-node-critical
          tolerations:
            - operator: Exists
          nodeSelector:
            kubernetes.io/os: linux
          automountServiceAccountToken: false
          ${access?.serviceAccount}
          containers:
            - name: registrar
              image: ${scalar(options.image)}
              args:
                ${registrar.args}
                ${access?.args}
              ${access?.env}
              ports:
                - {name: healthz, containerPort: ${options.httpPort}}
              # ${registrar.alive}
              livenessProbe:
                httpGet: {path: /healthz, port: healthz}
                initialDelaySeconds: 20
                periodSeconds: 20
                timeoutSeconds: 10
                failureThreshold: 3
              # ${registrar.ready}
              readinessProbe:
                httpGet: {path: /readyz, port: healthz}
                periodSeconds: 5
              # \`kubectl describe pod\` then shows why it ended.
              terminationMessagePolicy: FallbackToLogsOnError
              # Root, because kubelet's plugins_registry belongs to root; nothing else is needed. On nodes that enforce SELinux
              # add \`seLinuxOptions: {type: spc_t}\`, or the container may not open the socket of a privileged driver.
              securityContext:
                runAsUser: 0
                runAsGroup: 0
                readOnlyRootFilesystem: true
                allowPrivilegeEscalation: false
                capabilities: {drop: [ALL]}
                seccompProfile: {type: RuntimeDefault}
              resources:
                requests: {cpu: 10m, memory: ${registrar.memory}}
                limits: {memory: ${registrar.maxMemory}}
              volumeMounts:
                ${registrar.mount}
                - {name: registration-dir, mountPath: /registration}
                ${access?.mount}
            ${driver}
          volumes:
            ${folder}
            # Where kubelet looks for registration sockets. Directory, not DirectoryOrCreate: if it is missing, the path is
            # wrong for this node (see --kubelet-root), and a pod that cannot start says so.
            - name: registration-dir
              hostPath:
                path: ${options.kubeletRoot}/plugins_registry
                type: Directory
            ${volumes}
            ${access?.volume}
  `;
}

export const hostPath = (name: string, path: string, type = "Directory") => yaml`
  - name: ${name}
    hostPath:
      path: ${path}
      type: ${type}
`;
