import { useCluster } from "./support/cluster";
import {
  applyPolicy,
  type Changes,
  changesOf,
  DRIVER,
  enforced,
  IMAGE,
  limits,
  OURS,
  PATHS,
  type PodSpec,
  PROBE,
  PROGRAM,
  REGISTRAR,
  swapped as swappedTo,
  withDriver,
} from "./support/dry-pods";

const RETRY = "--on-registration-failure=retry";
const PORT = "--http-endpoint=:9809";
const ADDED = [RETRY, PORT];
const cluster = useCluster(async (started) => {
  await applyPolicy(started, "swap", IMAGE, ...ADDED.map((word) => `--arg=${word}`));
  await enforced(started, "swap");
});

const swapped = (at: number, args: readonly string[] = [...ADDED, ...PATHS], list?: string): Changes =>
  swappedTo(at, args, list);
const podLimits = (memory: string, cpu: string) => ({
  ...withDriver({ ...REGISTRAR, ...limits("32Mi", "20m") }),
  ...limits(memory, cpu),
});
const exec = (...command: readonly string[]) => ({ exec: { command } });
const windowsTerm = (key: string, operator: string, values: readonly string[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }],
      },
    },
  },
});

/** Pods of Windows, and others, by what is beside their containers. */
const FOR_WINDOWS: readonly PodSpec[] = [
  { os: { name: "windows" } },
  { nodeSelector: { "kubernetes.io/os": "windows" } },
  { nodeSelector: { "beta.kubernetes.io/os": "windows" } },
  { nodeSelector: { "node.kubernetes.io/windows-build": "10.0.20348" } },
  { nodeSelector: { "cloud.google.com/gke-os-distribution": "windows_ltsc" } },
  windowsTerm("kubernetes.io/os", "In", ["windows"]),
  windowsTerm("beta.kubernetes.io/os", "NotIn", ["linux"]),
  windowsTerm("node.kubernetes.io/windows-build", "In", ["10.0.17763", "10.0.20348"]),
  windowsTerm("node.kubernetes.io/windows-build", "Exists", []),
  windowsTerm("cloud.google.com/gke-os-distribution", "In", ["windows_ltsc_containerd"]),
  {
    hostNetwork: true,
    securityContext: { windowsOptions: { hostProcess: true, runAsUserName: "NT AUTHORITY\\SYSTEM" } },
  },
];
const NOT_FOR_WINDOWS: readonly PodSpec[] = [
  { nodeSelector: { "kubernetes.io/os": "linux" } },
  { nodeSelector: { "cloud.google.com/gke-os-distribution": "cos" } },
  windowsTerm("kubernetes.io/os", "In", ["linux"]),
  windowsTerm("node.kubernetes.io/windows-build", "DoesNotExist", []),
  windowsTerm("cloud.google.com/gke-os-distribution", "NotIn", ["windows_ltsc"]),
  windowsTerm("zone", "Exists", []),
];

const RAISED = { "containers.1.resources.limits.memory": "64Mi", "containers.1.resources.limits.cpu": "50m" };
const ENOUGH = { livenessProbe: { ...PROBE, timeoutSeconds: 10 } };
const EXEGY = [...PATHS, "--kubelet-registration-path=/plugins/disk.csi.exegy.test/csi.sock"];

/** Registrars with fields of their own. */
const OF_CONTAINERS: readonly (readonly [what: string, more: object, Changes])[] = [
  ["a command that names the program", { command: [PROGRAM] }, swapped(1)],
  [
    "a command with all of its arguments, the last without its value",
    { command: [PROGRAM, ...PATHS, "--v"], args: ["5"] },
    { "containers.1.image": OURS, "containers.1.command": [PROGRAM, ...ADDED, ...PATHS, "--v"] },
  ],
  ["arguments behind a plain word", { args: ["plain", "--v=5"] }, swapped(1, [...ADDED, "plain", "--v=5"])],
  ...["-http-endpoint", "--http-endpoint", "-http-endpoint=:1", "--http-endpoint=:1", "--health-port=1"].map(
    (word) => [`the flag as ${word}`, { args: [word, ":1"] }, swapped(1, [RETRY, word, ":1"])] as const,
  ),
  [
    "a flag whose name begins like another's",
    { args: ["--http-endpoint-x", "http-endpoint"] },
    swapped(1, [...ADDED, "--http-endpoint-x", "http-endpoint"]),
  ],
  [
    "every flag",
    { args: ["-http-endpoint=", "--on-registration-failure", "exit"] },
    { "containers.1.image": OURS },
  ],
  ["no port is the image's tag", { ...DRIVER, name: "d", image: "csi-node-driver-registrar:1/x" }, {}],
  ["sh -c", { command: ["sh", "-c", "exec x"] }, {}],
  ["a program that our image lacks", { command: ["/usr/bin/csi-node-driver-registrar"] }, {}],
  ["a probe that our image lacks", { livenessProbe: exec("sh", "-c", "true") }, {}],
  ["enough of everything", { ...limits("64Mi", "50m"), ...ENOUGH }, swapped(1)],
  ["limits of 0, which are none", { ...limits("0", "0"), ...ENOUGH }, swapped(1)],
  [
    "little CPU without exec probes",
    limits("1Gi", "10m"),
    { ...swapped(1), "containers.1.resources.limits.cpu": "50m" },
  ],
  [
    "limits in other units",
    { ...limits("67108863", "0.02"), startupProbe: PROBE, readinessProbe: { ...PROBE, timeoutSeconds: 9 } },
    {
      ...{ ...swapped(1), ...RAISED },
      "containers.1.startupProbe.timeoutSeconds": 10,
      "containers.1.readinessProbe.timeoutSeconds": 10,
    },
  ],
  ["an HTTP probe", { livenessProbe: { httpGet: { path: "/healthz", port: 9 } } }, swapped(1)],
  ["a Windows program", { command: ["csi-node-driver-registrar.exe"] }, {}],
  ["a driver whose name has .exe in it", { args: EXEGY }, swapped(1, [...ADDED, ...EXEGY])],
  ["a program of Windows in an argument", { args: ["--x=csi-proxy.exe"] }, {}],
  ["a Windows path in its arguments", { args: ["--csi-address=unix://C:\\csi\\csi.sock"] }, {}],
  [
    "a Windows path in its environment",
    { args: ["--csi-address=$(A)"], env: [{ name: "A", value: "unix://C:\\csi.sock" }] },
    {},
  ],
];

test.each<readonly [string, PodSpec, Changes]>([
  ["a registrar", withDriver(REGISTRAR), swapped(1)],
  [
    "what the policy made itself, or a chart that has this image",
    withDriver({ ...REGISTRAR, image: OURS, args: [...ADDED, ...PATHS], ...limits("64Mi", "50m") }),
    {},
  ],
  ["this image", withDriver({ ...REGISTRAR, image: OURS }), { "containers.1.args": [...ADDED, ...PATHS] }],
  ["no arguments", withDriver({ ...REGISTRAR, args: undefined }), swapped(1, ADDED)],
  [
    "two registrars, without the port that only one could have",
    withDriver(REGISTRAR, { ...REGISTRAR, name: "s" }),
    { ...swapped(1, [RETRY, ...PATHS]), ...swapped(2, [RETRY, ...PATHS]) },
  ],
  ["the host's network", { ...withDriver(REGISTRAR), hostNetwork: true }, swapped(1, [RETRY, ...PATHS])],
  ...[
    { ports: [{ containerPort: 9809 }] },
    { args: ["--health-port=9809"] },
    { args: ["--health-port", "9809"] },
    { command: ["/probe", "--http-endpoint=127.0.0.1:9809"] },
    { env: [{ name: "PORT", value: ":9809" }] },
  ].map(
    (more) =>
      [
        `the port in the hands of another container: ${JSON.stringify(more)}`,
        withDriver({ ...DRIVER, name: "probe", ...more }, REGISTRAR),
        swapped(2, [RETRY, ...PATHS]),
      ] as const,
  ),
  ["another port", withDriver({ ...DRIVER, name: "p", args: ["--p=19809"] }, REGISTRAR), swapped(2)],
  [
    "a native sidecar",
    { ...withDriver(), initContainers: [{ ...REGISTRAR, restartPolicy: "Always" }] },
    swapped(0, undefined, "initContainers"),
  ],
  [
    "60 registrars with everything that can be changed",
    {
      containers: Array.from({ length: 60 }, (_, at) => ({
        ...{ ...REGISTRAR, name: `r${at}`, livenessProbe: PROBE, ...limits("32Mi", "20m") },
      })),
    },
    Object.assign(
      {},
      ...Array.from({ length: 60 }, (_, at) => ({
        ...swapped(at, [RETRY, ...PATHS]),
        [`containers.${at}.resources.limits.memory`]: "64Mi",
        [`containers.${at}.resources.limits.cpu`]: "50m",
        [`containers.${at}.livenessProbe.timeoutSeconds`]: 10,
      })),
    ),
  ],
  ...OF_CONTAINERS.map(
    ([what, more, changes]) => [what, withDriver({ ...REGISTRAR, ...more }), changes] as const,
  ),
  ["limits of the pod below ours", podLimits("60Mi", "49m"), swapped(1)],
  ["limits of the pod like ours", podLimits("64Mi", "50m"), { ...swapped(1), ...RAISED }],
  ...FOR_WINDOWS.map(
    (more) => [`Windows by ${JSON.stringify(more)}`, { ...withDriver(REGISTRAR), ...more }, {}] as const,
  ),
  ...NOT_FOR_WINDOWS.map(
    (more) => [`not by ${JSON.stringify(more)}`, { ...withDriver(REGISTRAR), ...more }, swapped(1)] as const,
  ),
])("%s: changed exactly as meant", async (_what, spec, changes) => {
  expect(await changesOf(cluster, "swap", spec)).toEqual(changes);
});
