import type { Comments } from "./manifest";
import type { ResolvedManifestOptions } from "./options";

/** The port's name, for probes and for Prometheus. */
export const HEALTH_PORT_NAME = "healthz";

/** What every registrar's container has, whatever it registers. */
export const registrarBasics = {
  livenessProbe: {
    httpGet: { path: "/healthz", port: HEALTH_PORT_NAME },
    initialDelaySeconds: 20,
    periodSeconds: 20,
    timeoutSeconds: 10,
    failureThreshold: 3,
  },
  readinessProbe: { httpGet: { path: "/readyz", port: HEALTH_PORT_NAME }, periodSeconds: 5 },
  terminationMessagePolicy: "FallbackToLogsOnError",
  securityContext: {
    runAsUser: 0,
    runAsGroup: 0,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  },
} as const;

/** The sidecar; apart from names and paths the one in `examples/daemonset.yaml`, which explains each part. */
export function registrarContainer({ image, kubeletRegistrationPath, httpPort }: ResolvedManifestOptions) {
  return {
    name: "registrar",
    image,
    args: [
      "--csi-address=/csi/csi.sock",
      `--kubelet-registration-path=${kubeletRegistrationPath}`,
      "--on-registration-failure=retry",
      `--http-endpoint=:${httpPort}`,
      "--v=2",
    ],
    ports: [{ name: HEALTH_PORT_NAME, containerPort: httpPort }],
    ...registrarBasics,
    resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "100Mi" } },
    volumeMounts: [
      { name: "plugin-dir", mountPath: "/csi", readOnly: true },
      { name: "registration-dir", mountPath: "/registration" },
    ],
  };
}

/** Comments on it; `at` is its path. */
export function registrarComments(at: string): Comments {
  return {
    [`${at}.args.0`]: "The driver's socket as this container sees it, then as kubelet does, on the host.",
    [`${at}.args.2`]:
      "A refusal is tried again after 1 s to 30 s, not after the minutes of a crash loop, and alerts see it.",
    [`${at}.livenessProbe`]:
      "200 from the first moment, also while the driver is still starting: no startup probe is needed.",
    [`${at}.readinessProbe`]:
      "200 once kubelet has registered the driver, and as long as the socket is ours.",
    [`${at}.terminationMessagePolicy`]: "`kubectl describe pod` then shows why kubelet refused the driver.",
    [`${at}.securityContext`]: [
      "Root, because kubelet's plugins_registry belongs to root; nothing else is needed. On nodes that enforce SELinux",
      "add `seLinuxOptions: {type: spc_t}`, or the container may not open the socket of a privileged driver.",
    ],
  };
}
