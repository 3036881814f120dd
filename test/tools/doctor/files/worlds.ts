import { daemonSet, OFFICIAL, PATH } from "./one-daemon-set";

// Objects that doctor finds healthy, for laws about what a change of one field may do.

export const rich = daemonSet({
  env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
  envFrom: [{ configMapRef: { name: "c" } }],
  livenessProbe: { httpGet: { path: "/healthz", port: "healthz" } },
  ports: [{ name: "healthz", containerPort: 9809 }],
  more: ["--http-endpoint=:9809"],
  securityContext: { runAsUser: 0 },
  resources: { limits: { memory: "100Mi" } },
  pod: { initContainers: [{ name: "i" }], securityContext: { runAsUser: 0 } },
  spec: {
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    selector: { matchLabels: { app: "x" }, matchExpressions: [{ key: "app", operator: "Exists" }] },
  },
});
/** The registrar as a native sidecar. */
const { containers, ...restOfPod } = rich.spec.template.spec;
export const sidecar = daemonSet({
  pod: {
    ...restOfPod,
    containers: [{ name: "driver" }],
    initContainers: [{ ...containers[0], restartPolicy: "Always" }],
  },
});
const requiredOf = (term: object) => ({
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [term] }] },
});
const required = requiredOf({ key: "kubernetes.io/os", operator: "In", values: ["windows"] });
/** On Linux each would have problems. */
export const ofWindows = [
  { nodeSelector: { "kubernetes.io/os": "windows" } },
  { os: { name: "windows" } },
  { affinity: { nodeAffinity: required } },
].map((pod) => daemonSet({ image: OFFICIAL, registry: "/data/plugins", more: ["--nope"], pod }));
const exec = { command: ["/csi-node-driver-registrar", "--version"] };
export const official = daemonSet({
  ...{ image: OFFICIAL, command: ["/csi-node-driver-registrar"], lifecycle: { postStart: { exec } } },
  ...{ readinessProbe: { exec }, resources: { limits: { cpu: 1 } } },
  pod: { nodeSelector: { "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64" } },
  plugin: { hostPath: { path: PATH, type: "Directory" } },
  volumeMounts: [
    { name: "plugin", mountPath: "/csi", subPath: "" },
    { name: "registration", mountPath: "/registration", readOnly: false },
  ],
});
/** A pod with what many have: a driver with a socket, a livenessprobe, ports and hostNetwork. */
export const full = daemonSet({
  ...{ more: ["--http-endpoint=:9809"], ports: [{ name: "healthz", containerPort: 9809 }] },
  livenessProbe: { httpGet: { path: "/healthz", port: "healthz", scheme: "HTTP", host: "" } },
  pod: {
    hostNetwork: true,
    containers: [
      containers[0],
      {
        ...{ name: "driver", image: "d", args: ["--endpoint=$(CSI_ENDPOINT)", "--metrics-address=:9810"] },
        ...{ env: [{ name: "CSI_ENDPOINT", value: "unix:///csi/csi.sock" }] },
        ...{
          ports: [{ name: "h", containerPort: 9808 }],
          volumeMounts: [{ name: "plugin", mountPath: "/csi", readOnly: false }],
        },
        livenessProbe: { httpGet: { path: "/healthz", port: "h" } },
      },
      { name: "live", image: "livenessprobe:v2", args: ["--health-port=9808"] },
    ],
  },
});

const limitRangeIn = (namespace: string, memory: string) => ({
  ...{ kind: "LimitRange", metadata: { name: "l", namespace } },
  spec: { limits: [{ type: "Container", default: { memory }, max: { memory: "1Gi" } }] },
});
export const limitRange = limitRangeIn("ns", "200Mi");
/** A limit that would be a problem in this DaemonSet's namespace, and nodes of another architecture. */
const limitedElsewhere = {
  kind: "List",
  items: [limitRangeIn("elsewhere", "16Mi"), daemonSet()],
};
const ZONE = { key: "zone", operator: "In", values: ["s390x"] };
export const ofZone = daemonSet({
  pod: { os: { name: "linux" }, affinity: { nodeAffinity: requiredOf(ZONE) } },
});
export const WORLDS = [rich, sidecar, official, limitedElsewhere, ofZone, ...ofWindows];
