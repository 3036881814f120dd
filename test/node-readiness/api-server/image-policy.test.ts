import { useCluster } from "./support/cluster";
import {
  applyPolicy,
  type Changes,
  changesOf,
  DRIVER,
  dryRun,
  enforced,
  IMAGE,
  limits,
  OURS,
  onNode,
  onNodesWith,
  PATHS,
  type PodSpec,
  PROBE,
  PROGRAM,
  REGISTRAR,
  withDriver,
} from "./support/dry-pods";

/** A pod, what the policy of its namespace changes in it, and what is beside its spec. */
type Row = readonly [what: string, spec: PodSpec, changes: Changes, metadata?: object];

const RETRY = "--on-registration-failure=retry";
const ADDED = [RETRY, "--http-endpoint=:9809"];
const SWAPPED = { "containers.1.image": OURS };
const SIDECAR = { restartPolicy: "Always" };

/** Several: the API server evaluates the two policies of each in an order that it draws by lot. */
const LIMITED = Array.from({ length: 6 }, (_, at) => `limited-${at}`);
/** As many as the command takes, with names as long as those of EKS. */
const MANY = [
  "node-1",
  ...Array.from({ length: 2_125 }, (_, at) => `ip-10-0-${at}.us-west-2.compute.internal`.padStart(41, "x")),
];
/** The flags of each namespace's policy. */
const POLICIES: Readonly<Record<string, readonly string[]>> = {
  args: ADDED.map((word) => `--arg=${word}`),
  swap: ["--match-image=sidecar"],
  kept: ["--keep=memory,cpu", "--keep=probe-timeouts"],
  ready: ["--startup-taint={driver}/x", "--node-condition={driver}/Ready"],
  team: ["--namespace-label=team=storage"],
  others: ["--namespace-label=team=network"],
  metered: ["9809", "host:metered/plugin=9810", "host:metered/other=9811"].map(
    (one) => `--metrics-port=${one}`,
  ),
  staged: ["--nodes=node/node-1,worker-7"],
  many: [`--nodes=${MANY}`],
};

const cluster = useCluster(async (started) => {
  for (const [namespace, flags] of Object.entries(POLICIES))
    await applyPolicy(started, namespace, IMAGE, ...flags);
  for (const namespace of LIMITED) {
    await applyPolicy(started, namespace, namespace === "limited-0" ? "--image=example.com/r:v1" : IMAGE);
    const ranges = ["{memory: 50Mi}", "{cpu: 30m}", "{ephemeral-storage: 1Gi}"].map(
      (max, at) =>
        `{apiVersion: v1, kind: LimitRange, metadata: {name: r${at}, namespace: ${namespace}}, ` +
        `spec: {limits: [{type: Container, max: ${max}}]}}`,
    );
    await started.apply(ranges.join("\n---\n"));
  }
  await enforced(started, ...Object.keys(POLICIES).filter((name) => name !== "others"), ...LIMITED);
});

const DIGEST = `sha256:${"0".repeat(64)}`;
const REGISTRARS = [
  ...["csi-node-driver-registrar", "localhost:5000/csi-node-driver-registrar"],
  ...["calico/node-driver-registrar:v3.30.3", "anything.example.com/sidecar:v1"],
  "rancher/mirrored-longhornio-csi-node-driver-registrar:v2.16.0-20260428",
  "quay.io/openshift/origin-csi-node-driver-registrar:latest",
  `registry.redhat.io/openshift4/ose-csi-node-driver-registrar@${DIGEST}`,
  "registry.redhat.io/openshift4/ose-csi-node-driver-registrar-rhel9:v4.19",
  "cgr.dev/x/kubernetes-csi-node-driver-registrar-fips:2.15",
  `registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0@${DIGEST}`,
];
const OTHERS = [
  ...["csi-cluster-driver-registrar:v1", "csi-node-driver-win-registrar:v1"],
  ...["my-sidecar:v1", "sidecar:5000/x:1", "csi-node-driver-registrar/other:v1"],
  ...["registry.k8s.io/sig-storage/livenessprobe:v2.19.0", "quay.io/k8scsi/driver-registrar:v0.4.1"],
];
const BY_IMAGE = [...REGISTRARS, ...OTHERS].map(
  (image): Row => [image, withDriver({ ...REGISTRAR, image }), REGISTRARS.includes(image) ? SWAPPED : {}],
);

const onNodes = (changes: Readonly<Record<string, Changes>>) =>
  Object.entries(changes).map(([node, changed]): Row => [node, onNode(node, withDriver(REGISTRAR)), changed]);

const swapped = (
  at: number,
  args: readonly string[] = [...ADDED, ...PATHS],
  list = "containers",
): Changes => ({
  [`${list}.${at}.image`]: OURS,
  [`${list}.${at}.args`]: args,
});
const podLimits = (memory: string, cpu: string) => ({
  ...withDriver({ ...REGISTRAR, ...limits("32Mi", "20m") }),
  ...limits(memory, cpu),
});
const exec = (...command: readonly string[]) => ({ exec: { command } });
const windowsTerm = (key: string, operator: string, values: readonly string[]) =>
  onNodesWith({ matchExpressions: [{ key, operator, values }] });

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
    { ...SWAPPED, "containers.1.command": [PROGRAM, ...ADDED, ...PATHS, "--v"] },
  ],
  ["arguments behind a plain word", { args: ["plain", "--v=5"] }, swapped(1, [...ADDED, "plain", "--v=5"])],
  ...["-http-endpoint", "--http-endpoint", "-http-endpoint=:1", "--http-endpoint=:1", "--health-port=1"].map(
    (word) => [`the flag as ${word}`, { args: [word, ":1"] }, swapped(1, [RETRY, word, ":1"])] as const,
  ),
  [
    "a flag whose name begins like it",
    { args: ["--http-endpoint-x"] },
    swapped(1, [...ADDED, "--http-endpoint-x"]),
  ],
  ["every flag", { args: ["-http-endpoint=", "--on-registration-failure", "exit"] }, SWAPPED],
  ["no port is the image's tag", { ...DRIVER, name: "d", image: "csi-node-driver-registrar:1/x" }, {}],
  ["sh -c", { command: ["sh", "-c", "exec x"] }, {}],
  ["a program that our image lacks", { command: ["/usr/bin/csi-node-driver-registrar"] }, {}],
  ["a probe that our image lacks", { livenessProbe: exec("sh", "-c", "true") }, {}],
  ["enough of everything", { ...limits("64Mi", "50m"), ...ENOUGH }, swapped(1)],
  ["limits of 0, which are none", { ...limits("0", "0"), ...ENOUGH }, swapped(1)],
  ["little CPU alone", limits("1Gi", "10m"), { ...swapped(1), "containers.1.resources.limits.cpu": "50m" }],
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
  ["a Windows path in its environment", { env: [{ name: "A", value: "unix://C:\\csi.sock" }] }, {}],
];

const everything = (at: number) => ({
  ...REGISTRAR,
  name: `r${at}`,
  livenessProbe: PROBE,
  ...limits("32Mi", "20m"),
});
const SIXTY = Array.from({ length: 60 }, (_, at) => at);

const IN_ARGS: readonly Row[] = [
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
  ].map((more): Row => {
    const other = { ...DRIVER, name: "probe", ...more };
    return [
      `another's port: ${JSON.stringify(more)}`,
      withDriver(other, REGISTRAR),
      swapped(2, [RETRY, ...PATHS]),
    ];
  }),
  ["another port", withDriver({ ...DRIVER, name: "p", args: ["--p=19809"] }, REGISTRAR), swapped(2)],
  [
    "a native sidecar",
    { ...withDriver(), initContainers: [{ ...REGISTRAR, ...SIDECAR }] },
    swapped(0, undefined, "initContainers"),
  ],
  [
    "60 registrars with everything that can be changed",
    { containers: SIXTY.map(everything) },
    Object.assign(
      {},
      ...SIXTY.map((at) => ({
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
];

const PORT = { name: "registrar", containerPort: 9809, protocol: "TCP" };
const METERED_ARGS = ["--http-endpoint=:9809", ...PATHS];
const HOST = { hostNetwork: true };
const OWN_PORT = { name: "own", containerPort: 1, protocol: "TCP" };
const ownedBy = (name: string) => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name, uid: "u", controller: true }],
});
const beside = (more: object) => withDriver(REGISTRAR, { ...DRIVER, name: "probe", ...more });

const METERED: readonly Row[] = [
  [
    "a pod with its own network",
    withDriver(REGISTRAR),
    { ...swapped(1, METERED_ARGS), "containers.1.ports": [PORT] },
    ownedBy("plugin"),
  ],
  [
    "other ports of the registrar",
    withDriver({ ...REGISTRAR, ports: [OWN_PORT] }),
    { ...swapped(1, METERED_ARGS), "containers.1.ports.1": PORT },
  ],
  ["two", withDriver(REGISTRAR, { ...REGISTRAR, name: "s" }), { ...SWAPPED, "containers.2.image": OURS }],
  ["an endpoint", withDriver({ ...REGISTRAR, args: ["--http-endpoint=:1"] }), SWAPPED],
  ["the old flag", withDriver({ ...REGISTRAR, args: ["-health-port", "1"] }), SWAPPED],
  ["this name", withDriver({ ...REGISTRAR, ports: [{ ...OWN_PORT, name: "registrar" }] }), SWAPPED],
  ["another container with the port", beside({ ports: [{ containerPort: 9809 }] }), SWAPPED],
  ["a listener there", beside({ args: ["--p=:9809"] }), SWAPPED],
  ["the host's network, no port", { ...withDriver(REGISTRAR), ...HOST }, SWAPPED, ownedBy("third")],
  [
    "the host's network",
    { ...withDriver(REGISTRAR), ...HOST },
    {
      ...swapped(1, ["--http-endpoint=:9810", ...PATHS]),
      "containers.1.ports": [{ ...PORT, containerPort: 9810, hostPort: 9810 }],
    },
    ownedBy("plugin"),
  ],
  [
    "the host's network, and a driver with the port",
    { ...beside({ ports: [{ containerPort: 9811 }] }), ...HOST },
    SWAPPED,
    ownedBy("other"),
  ],
];

const READY = ["--remove-startup-taint={driver}/x", "--node-condition={driver}/Ready", ...PATHS];
const NODE_NAME = {
  name: "NODE_NAME",
  valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "spec.nodeName" } },
};
const withEnv = (variable: object) => withDriver({ ...REGISTRAR, env: [variable] });

const IN_READY: readonly Row[] = [
  ["token", withDriver(REGISTRAR), { ...swapped(1, READY), "containers.1.env": [NODE_NAME] }],
  [
    "own variables",
    withEnv({ name: "A", value: "b" }),
    { ...swapped(1, READY), "containers.1.env.1": NODE_NAME },
  ],
  ["the node's name", withEnv({ ...NODE_NAME, name: "KUBE_NODE_NAME" }), swapped(1, READY)],
  ["no token", { ...withDriver(REGISTRAR), automountServiceAccountToken: false }, SWAPPED],
];

const UNTOUCHED = { ...REGISTRAR, ...limits("32Mi", "20m"), livenessProbe: PROBE };
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  args: IN_ARGS,
  swap: BY_IMAGE,
  kept: [["limits and probes stay", withDriver(UNTOUCHED), SWAPPED]],
  team: [["a registrar", withDriver(REGISTRAR), SWAPPED]],
  others: [["a registrar", withDriver(REGISTRAR), {}]],
  staged: [
    ...onNodes({ "node-1": SWAPPED, "worker-7": SWAPPED, "worker-70": {} }),
    ["a Deployment's, which has no node's name yet", withDriver(REGISTRAR), {}],
  ],
  many: onNodes({ "node-1": SWAPPED, [MANY.at(-1) ?? ""]: SWAPPED, "node-2": {} }),
  metered: METERED,
  ready: IN_READY,
};
const ALL = Object.entries(ROWS).flatMap(([namespace, rows]) =>
  rows.map(([what, spec, changes, metadata = {}]) => ({ namespace, what, spec, changes, metadata })),
);

test.each(ALL)("in the namespace $namespace: $what", async ({ namespace, spec, changes, metadata }) => {
  expect(await changesOf(cluster, namespace, spec, metadata)).toEqual(changes);
});

test.each(LIMITED)("%s: limits rise to what every LimitRange of the namespace allows", async (namespace) => {
  for (const given of [limits("32Mi", "20m"), limits("50Mi", "30m")]) {
    const spec = { containers: [{ ...REGISTRAR, ...given }] };
    const { containers } = await dryRun(cluster, namespace, spec);
    const image = namespace === "limited-0" ? "example.com/r:v1" : OURS;
    expect(containers).toMatchObject([{ image, ...limits("50Mi", "30m") }]);
  }
});
