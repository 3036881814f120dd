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
  onNode,
  onNodesWith,
  PATHS,
  PROBE,
  PROGRAM,
  REGISTRAR,
} from "./support/dry-pods";

/** A pod of the driver and a registrar: fields of the registrar, other fields of the pod, what is beside its spec, more containers. */
interface Given {
  readonly is?: object;
  readonly pod?: object;
  readonly metadata?: object;
  readonly more?: readonly object[];
}
/** Such a pod, and what the policy of its namespace changes in the registrar beside its image; NOTHING: not even that. */
type Row = readonly [what: string, given: Given, changes: Changes];

const NOTHING: Changes = { nothing: true };
const SWAPPED: Changes = {};
const RETRY = "--on-registration-failure=retry";
const ENDPOINT = "--http-endpoint=:9809";
const args = (...words: readonly string[]) => ({ args: words });
const ADDED = args(RETRY, ...PATHS);

/** The flags of each namespace's policy. */
const POLICIES: Readonly<Record<string, readonly string[]>> = {
  args: [`--arg=${RETRY}`],
  swap: ["--match-image=sidecar"],
  kept: ["--keep=memory,cpu", "--keep=probe-timeouts"],
  metered: ["9809", "host:metered/plugin=9810", "host:metered/other=9811"].map(
    (one) => `--metrics-port=${one}`,
  ),
  staged: ["--nodes=node/node-1,worker-7"],
};

const cluster = useCluster(async (started) => {
  for (const [namespace, flags] of Object.entries(POLICIES))
    await applyPolicy(started, namespace, IMAGE, ...flags);
  await enforced(started, ...Object.keys(POLICIES));
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
const NO_MARK = { args: ["--csi-address=/csi/csi.sock"], volumeMounts: [] };
const BY_IMAGE: readonly Row[] = [
  ...[...REGISTRARS, ...OTHERS].map(
    (image): Row => [image, { is: { image } }, REGISTRARS.includes(image) ? SWAPPED : NOTHING],
  ),
  // A driver or a liveness probe, where all images of a release have one name.
  ["that name without a registrar's mark", { is: { image: "x/sidecar:v1", ...NO_MARK } }, NOTHING],
];

const onNodes = (changes: Readonly<Record<string, Changes>>) =>
  Object.entries(changes).map(([node, changed]): Row => [node, { pod: onNode(node, {}) }, changed]);

const exec = (...command: readonly string[]) => ({ exec: { command } });
const windowsTerm = (key: string, operator: string, values: readonly string[]) =>
  onNodesWith({ matchExpressions: [{ key, operator, values }] });

/** Pods of Windows, and others, by what is beside their containers. */
const FOR_WINDOWS: readonly object[] = [
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
const NOT_FOR_WINDOWS: readonly object[] = [
  { nodeSelector: { "kubernetes.io/os": "linux" } },
  { nodeSelector: { "cloud.google.com/gke-os-distribution": "cos" } },
  windowsTerm("kubernetes.io/os", "In", ["linux"]),
  windowsTerm("node.kubernetes.io/windows-build", "DoesNotExist", []),
  windowsTerm("cloud.google.com/gke-os-distribution", "NotIn", ["windows_ltsc"]),
  windowsTerm("zone", "Exists", []),
];

const RAISED = { "resources.limits.memory": "64Mi", "resources.limits.cpu": "50m" };
const LITTLE = limits("32Mi", "20m");
const ENOUGH = { livenessProbe: { ...PROBE, timeoutSeconds: 10 } };
const WHOLE = { command: [PROGRAM, ...PATHS, "--v"], args: ["5"] };
const EXEGY = [...PATHS, "--kubelet-registration-path=/plugins/disk.csi.exegy.test/csi.sock"];
const UNITS = {
  ...limits("67108863", "0.02"),
  startupProbe: PROBE,
  readinessProbe: { ...PROBE, timeoutSeconds: 9 },
};
const TIMEOUTS = { "startupProbe.timeoutSeconds": 10, "readinessProbe.timeoutSeconds": 10 };
const PROBER = { ...DRIVER, name: "probe" };

const IN_ARGS: readonly Row[] = [
  ["a registrar", {}, ADDED],
  ["what the policy made itself", { is: { image: OURS, ...ADDED, ...limits("64Mi", "50m") } }, NOTHING],
  ["this image", { is: { image: OURS } }, { ...ADDED, image: undefined }],
  ["no arguments", { is: { args: undefined } }, args(RETRY)],
  ["a command that names the program", { is: { command: [PROGRAM] } }, ADDED],
  ["a command with all arguments", { is: WHOLE }, { command: [PROGRAM, RETRY, ...PATHS, "--v"] }],
  ["arguments behind a plain word", { is: args("plain", "--v=5") }, args(RETRY, "plain", "--v=5")],
  ...["-on-registration-failure", "--on-registration-failure", "--on-registration-failure="].map(
    (word): Row => [`the flag as ${word}`, { is: args(word, "exit") }, SWAPPED],
  ),
  [
    "a flag that begins like it",
    { is: args("--on-registration-failure-x") },
    args(RETRY, "--on-registration-failure-x"),
  ],
  ["no port is the image's tag", { is: { image: "csi-node-driver-registrar:1/x" } }, NOTHING],
  ["sh -c", { is: { command: ["sh", "-c", "exec x"] } }, NOTHING],
  ["a program that our image lacks", { is: { command: ["/usr/bin/csi-node-driver-registrar"] } }, NOTHING],
  ["a probe that our image lacks", { is: { livenessProbe: exec("sh", "-c", "true") } }, NOTHING],
  ["enough of everything", { is: { ...limits("64Mi", "50m"), ...ENOUGH } }, ADDED],
  ["limits of 0, which are none", { is: { ...limits("0", "0"), ...ENOUGH } }, ADDED],
  ["little CPU alone", { is: limits("1Gi", "10m") }, { ...ADDED, "resources.limits.cpu": "50m" }],
  ["limits in other units", { is: UNITS }, { ...ADDED, ...RAISED, ...TIMEOUTS }],
  ["an HTTP probe", { is: { livenessProbe: { httpGet: { path: "/healthz", port: 9 } } } }, ADDED],
  ["limits of the pod below ours", { is: LITTLE, pod: limits("60Mi", "49m") }, ADDED],
  ["limits of the pod like ours", { is: LITTLE, pod: limits("64Mi", "50m") }, { ...ADDED, ...RAISED }],
  ["a driver whose name has .exe in it", { is: { args: EXEGY } }, args(RETRY, ...EXEGY)],
  ...[
    { command: ["csi-node-driver-registrar.exe"] },
    args("--x=csi-proxy.exe"),
    args("--csi-address=unix://C:\\csi\\csi.sock"),
    { env: [{ name: "A", value: "unix://C:\\csi.sock" }] },
  ].map((is): Row => [`Windows by the container's ${JSON.stringify(is)}`, { is }, NOTHING]),
  ...FOR_WINDOWS.map((pod): Row => [`Windows by ${JSON.stringify(pod)}`, { pod }, NOTHING]),
  ...NOT_FOR_WINDOWS.map((pod): Row => [`not by ${JSON.stringify(pod)}`, { pod }, ADDED]),
];

const PORT = { name: "registrar", containerPort: 9809, protocol: "TCP" };
const METRICS = args(ENDPOINT, ...PATHS);
const OWN_PORT = { name: "own", containerPort: 1, protocol: "TCP" };
const hostOf = (name: string): Given => ({
  pod: { hostNetwork: true },
  metadata: {
    ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name, uid: "u", controller: true }],
  },
});
const HOST_PORT = { ...PORT, containerPort: 9810, hostPort: 9810 };
const withPort = (containerPort: number) => ({ more: [{ ...PROBER, ports: [{ containerPort }] }] });

const METERED: readonly Row[] = [
  ["its own network", { metadata: hostOf("plugin").metadata ?? {} }, { ...METRICS, ports: [PORT] }],
  ["other ports of the registrar", { is: { ports: [OWN_PORT] } }, { ...METRICS, "ports.1": PORT }],
  ["an endpoint", { is: args("--http-endpoint=:1") }, SWAPPED],
  ["the old flag", { is: args("-health-port", "1") }, SWAPPED],
  ["this name", { is: { ports: [{ ...OWN_PORT, name: "registrar" }] } }, SWAPPED],
  ["another container with the port", withPort(9809), SWAPPED],
  ...[
    args("--p=:9809"),
    args("--health-port", "9809"),
    { command: ["/probe", "--http-endpoint=127.0.0.1:9809"] },
    { env: [{ name: "PORT", value: ":9809" }] },
  ].map((its): Row => [`another's port: ${JSON.stringify(its)}`, { more: [{ ...PROBER, ...its }] }, SWAPPED]),
  ["another port", { more: [{ ...PROBER, ...args("--p=19809") }] }, { ...METRICS, ports: [PORT] }],
  ["the host's network, no port", hostOf("third"), SWAPPED],
  [
    "the host's network",
    hostOf("plugin"),
    { ...args("--http-endpoint=:9810", ...PATHS), ports: [HOST_PORT] },
  ],
  ["the host's network, and another with the port", { ...hostOf("other"), ...withPort(9811) }, SWAPPED],
];

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  args: IN_ARGS,
  swap: BY_IMAGE,
  kept: [["limits and probes stay", { is: { ...LITTLE, livenessProbe: PROBE } }, SWAPPED]],
  staged: [
    ...onNodes({ "node-1": SWAPPED, "worker-7": SWAPPED, "worker-70": NOTHING }),
    ["a Deployment's, which has no node's name yet", {}, NOTHING],
  ],
  metered: METERED,
};

/** The changes of the registrar at this place, by their paths in the pod's spec. */
const inPod = (place: string, changes: Changes): Changes =>
  changes === NOTHING
    ? {}
    : Object.fromEntries(
        Object.entries({ image: OURS, ...changes }).map(([path, value]) => [`${place}.${path}`, value]),
      );

test.each(
  Object.entries(ROWS).flatMap(([namespace, rows]) =>
    rows.map(([what, given, changes]) => [namespace, what, given, changes] as const),
  ),
)("in the namespace %s: %s", async (namespace, _what, { is, pod, metadata = {}, more = [] }, changes) => {
  const spec = { ...pod, containers: [DRIVER, { ...REGISTRAR, ...is }, ...more] };
  expect(await changesOf(cluster, namespace, spec, metadata)).toEqual(inPod("containers.1", changes));
});

const SIDECAR = { ...REGISTRAR, restartPolicy: "Always" };

test("native sidecars and several registrars of a pod are changed; only one could have a port", async () => {
  for (const [namespace, one, each] of [
    ["args", ADDED, ADDED],
    ["metered", { ...METRICS, ports: [PORT] }, SWAPPED],
  ] as const) {
    const ofSpec = (containers: readonly object[], initContainers: readonly object[] = []) =>
      changesOf(cluster, namespace, { containers: [DRIVER, ...containers], initContainers });
    expect(await ofSpec([], [SIDECAR])).toEqual(inPod("initContainers.0", one));
    const both = await ofSpec([REGISTRAR, { ...REGISTRAR, name: "s" }]);
    expect(both).toEqual({ ...inPod("containers.1", each), ...inPod("containers.2", each) });
  }
});

test("the API server evaluates the policy for a pod of 60 registrars within its budget", async () => {
  const fields = { ...REGISTRAR, ...LITTLE, livenessProbe: PROBE };
  const containers = Array.from({ length: 60 }, (_, at) => ({ ...fields, name: `r${at}` }));
  const changes = { ...ADDED, ...RAISED, "livenessProbe.timeoutSeconds": 10 };
  const all = containers.map((_, at) => inPod(`containers.${at}`, changes));
  expect(await changesOf(cluster, "args", { containers })).toEqual(Object.assign({}, ...all));
});
