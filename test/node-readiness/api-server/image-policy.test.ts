import { eventually } from "../../support/eventually";
import { useCluster } from "./support/cluster";
import { applyPolicy, type Changes, changesOf, type PodSpec } from "./support/dry-pods";

const OFFICIAL = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0";
const OURS = "example.com/registrar:v1";
const IMAGE = `--image=${OURS}`;
const DRIVER = { name: "driver", image: "driver:v1" };
const PATHS = [
  "--csi-address=/csi/csi.sock",
  "--kubelet-registration-path=/var/lib/kubelet/plugins/x/csi.sock",
];
const REGISTRAR = { name: "r", image: OFFICIAL, args: PATHS };
const ADDED = ["--on-registration-failure=retry", "--http-endpoint=:9"];
const PROGRAM = "/csi-node-driver-registrar";

const cluster = useCluster(async (started) => {
  await applyPolicy(started, "swap", IMAGE, "--match-image=sidecar", ...ADDED.map((word) => `--arg=${word}`));
  await applyPolicy(started, "kept", IMAGE, "--keep=memory,cpu", "--keep=probe-timeouts");
  await applyPolicy(started, "ready", IMAGE, "--startup-taint={driver}/x", "--node-condition={driver}/Ready");
  await applyPolicy(started, "team", IMAGE, "--namespace-label=team=storage");
  await applyPolicy(started, "others", IMAGE, "--namespace-label=team=network");
  for (const namespace of ["swap", "kept", "ready", "team"])
    await eventually(async () =>
      expect(await changesOf(started, namespace, withDriver(REGISTRAR))).not.toEqual({}),
    );
});

const withDriver = (...containers: readonly object[]): PodSpec => ({ containers: [DRIVER, ...containers] });
const swapped = (
  at: number,
  args: readonly string[] = [...ADDED, ...PATHS],
  list = "containers",
): Changes => ({
  [`${list}.${at}.image`]: OURS,
  [`${list}.${at}.args`]: args,
});
const exec = (...command: readonly string[]) => ({ exec: { command } });
const limits = (memory: string, cpu: string) => ({ resources: { limits: { memory, cpu } } });
const PROBE = exec(PROGRAM, "--mode=kubelet-registration-probe");
const windowsTerm = (key: string, operator: string, values: readonly string[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }],
      },
    },
  },
});

test.each<readonly [string, PodSpec, Changes]>([
  ["a registrar", withDriver(REGISTRAR), swapped(1)],
  ["no arguments", withDriver({ ...REGISTRAR, args: undefined }), swapped(1, ADDED)],
  ["two registrars", withDriver(REGISTRAR, { ...REGISTRAR, name: "s" }), { ...swapped(1), ...swapped(2) }],
  [
    "a native sidecar",
    { ...withDriver(), initContainers: [{ ...REGISTRAR, restartPolicy: "Always" }] },
    swapped(0, undefined, "initContainers"),
  ],
  [
    "60 containers, half of them registrars",
    withDriver(
      ...Array.from({ length: 59 }, (_, at) => ({ ...(at % 2 ? REGISTRAR : DRIVER), name: `c${at}` })),
    ),
    Object.assign({}, ...Array.from({ length: 29 }, (_, at) => swapped(2 * at + 2))),
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
        ...swapped(at),
        [`containers.${at}.resources.limits.memory`]: "64Mi",
        [`containers.${at}.resources.limits.cpu`]: "50m",
        [`containers.${at}.livenessProbe.timeoutSeconds`]: 10,
      })),
    ),
  ],
  ["a command that names the program", withDriver({ ...REGISTRAR, command: [PROGRAM] }), swapped(1)],
  [
    "a command with all of its arguments, the last without its value",
    withDriver({ ...REGISTRAR, command: [PROGRAM, ...PATHS, "--v"], args: ["5"] }),
    { "containers.1.image": OURS, "containers.1.command": [PROGRAM, ...ADDED, ...PATHS, "--v"] },
  ],
  [
    "arguments behind a plain word",
    withDriver({ ...REGISTRAR, args: ["plain", "--v=5"] }),
    swapped(1, [...ADDED, "plain", "--v=5"]),
  ],
  ...["-http-endpoint", "--http-endpoint", "-http-endpoint=:1", "--http-endpoint=:1", "--health-port=1"].map(
    (word) =>
      [
        `the flag as ${word}`,
        withDriver({ ...REGISTRAR, args: [word, ":1"] }),
        swapped(1, ["--on-registration-failure=retry", word, ":1"]),
      ] as const,
  ),
  [
    "a flag whose name begins like another's",
    withDriver({ ...REGISTRAR, args: ["--http-endpoint-x", "http-endpoint"] }),
    swapped(1, [...ADDED, "--http-endpoint-x", "http-endpoint"]),
  ],
  [
    "every flag",
    withDriver({ ...REGISTRAR, args: ["-http-endpoint=", "--on-registration-failure", "exit"] }),
    { "containers.1.image": OURS },
  ],
  [
    "no port is the image's tag",
    withDriver({ ...DRIVER, name: "d", image: "csi-node-driver-registrar:1/x" }),
    {},
  ],
  ["sh -c", withDriver({ ...REGISTRAR, command: ["sh", "-c", "exec x"] }), {}],
  [
    "a program that our image lacks",
    withDriver({ ...REGISTRAR, command: ["/usr/bin/csi-node-driver-registrar"] }),
    {},
  ],
  ["a probe that our image lacks", withDriver({ ...REGISTRAR, livenessProbe: exec("sh", "-c", "true") }), {}],
  [
    "enough of everything",
    withDriver({ ...REGISTRAR, ...limits("64Mi", "50m"), livenessProbe: { ...PROBE, timeoutSeconds: 10 } }),
    swapped(1),
  ],
  ["little CPU without exec probes", withDriver({ ...REGISTRAR, ...limits("1Gi", "10m") }), swapped(1)],
  [
    "limits in other units",
    withDriver({
      ...REGISTRAR,
      ...limits("67108863", "0.02"),
      startupProbe: PROBE,
      readinessProbe: { ...PROBE, timeoutSeconds: 9 },
    }),
    {
      ...swapped(1),
      "containers.1.resources.limits.memory": "64Mi",
      "containers.1.resources.limits.cpu": "50m",
      "containers.1.startupProbe.timeoutSeconds": 10,
      "containers.1.readinessProbe.timeoutSeconds": 10,
    },
  ],
  [
    "an HTTP probe",
    withDriver({ ...REGISTRAR, livenessProbe: { httpGet: { path: "/healthz", port: 9 } } }),
    swapped(1),
  ],
  ["Windows by its OS", { ...withDriver(REGISTRAR), os: { name: "windows" } }, {}],
  [
    "Windows by nodeSelector",
    { ...withDriver(REGISTRAR), nodeSelector: { "kubernetes.io/os": "windows" } },
    {},
  ],
  [
    "Windows by the old label",
    { ...withDriver(REGISTRAR), nodeSelector: { "beta.kubernetes.io/os": "windows" } },
    {},
  ],
  [
    "Linux by nodeSelector",
    { ...withDriver(REGISTRAR), nodeSelector: { "kubernetes.io/os": "linux" } },
    swapped(1),
  ],
  [
    "Windows by affinity",
    { ...withDriver(REGISTRAR), ...windowsTerm("kubernetes.io/os", "In", ["windows"]) },
    {},
  ],
  [
    "not Linux by affinity",
    { ...withDriver(REGISTRAR), ...windowsTerm("beta.kubernetes.io/os", "NotIn", ["linux"]) },
    {},
  ],
  [
    "Linux by affinity",
    { ...withDriver(REGISTRAR), ...windowsTerm("kubernetes.io/os", "In", ["linux"]) },
    swapped(1),
  ],
  ["any zone by affinity", { ...withDriver(REGISTRAR), ...windowsTerm("zone", "Exists", []) }, swapped(1)],
  [
    "a host process",
    {
      ...withDriver(REGISTRAR),
      hostNetwork: true,
      securityContext: { windowsOptions: { hostProcess: true, runAsUserName: "NT AUTHORITY\\SYSTEM" } },
    },
    {},
  ],
  ["a Windows program", withDriver({ ...REGISTRAR, command: ["csi-node-driver-registrar.exe"] }), {}],
  [
    "a Windows path in its arguments",
    withDriver({ ...REGISTRAR, args: ["--csi-address=unix://C:\\csi\\csi.sock"] }),
    {},
  ],
  [
    "a Windows path in its environment",
    withDriver({
      ...REGISTRAR,
      args: ["--csi-address=$(A)"],
      env: [{ name: "A", value: "unix://C:\\csi.sock" }],
    }),
    {},
  ],
])("%s: changed exactly as meant", async (_what, spec, changes) => {
  expect(await changesOf(cluster, "swap", spec)).toEqual(changes);
});

const images = (...names: readonly string[]) => names.map((image) => [image] as const);

test.each(
  images(
    ...[
      "csi-node-driver-registrar",
      "localhost:5000/csi-node-driver-registrar",
      "calico/node-driver-registrar:v3.30.3",
    ],
    ...[
      "rancher/mirrored-longhornio-csi-node-driver-registrar:v2.16.0",
      "x/mirrored-sig-storage-csi-node-driver-registrar:1",
    ],
    ...[
      "quay.io/openshift/origin-csi-node-driver-registrar:latest",
      "x/ose-csi-node-driver-registrar-rhel9:v4.19",
    ],
    `registry.redhat.io/openshift4/ose-csi-node-driver-registrar-rhel8@sha256:${"0".repeat(64)}`,
    ...[
      "cgr.dev/x/kubernetes-csi-node-driver-registrar-fips:2.15",
      `x/csi-node-driver-registrar:v2@sha256:${"0".repeat(64)}`,
    ],
    "anything.example.com/sidecar:v1",
  ),
)("%s is a registrar", async (image) => {
  expect(await changesOf(cluster, "swap", withDriver({ ...REGISTRAR, image }))).toEqual(swapped(1));
});

test.each(
  images(
    ...[
      "csi-cluster-driver-registrar:v1",
      "csi-node-driver-win-registrar:v1",
      "sig-storage/livenessprobe:v2.19.0",
    ],
    ...[
      "k8scsi/driver-registrar:v0.4.1",
      "csi-node-driver-registrar/other:v1",
      "my-sidecar:v1",
      "sidecar:5000/x:1",
    ],
  ),
)("%s is none", async (image) => {
  expect(await changesOf(cluster, "swap", withDriver({ ...REGISTRAR, image }))).toEqual({});
});

test("--keep leaves limits and probes as they are", async () => {
  const spec = withDriver({ ...REGISTRAR, ...limits("32Mi", "20m"), livenessProbe: PROBE });
  expect(await changesOf(cluster, "kept", spec)).toEqual({ "containers.1.image": OURS });
});

test("namespaces are chosen by a label too", async () => {
  expect(await changesOf(cluster, "team", withDriver(REGISTRAR))).toEqual({ "containers.1.image": OURS });
  expect(await changesOf(cluster, "others", withDriver(REGISTRAR))).toEqual({});
});

const READY = ["--remove-startup-taint={driver}/x", "--node-condition={driver}/Ready"];
const NODE_NAME = {
  name: "NODE_NAME",
  valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "spec.nodeName" } },
};
const ENV = { name: "A", value: "b" };

test.each<readonly [string, PodSpec, Changes]>([
  [
    "a token",
    withDriver(REGISTRAR),
    { ...swapped(1, [...READY, ...PATHS]), "containers.1.env": [NODE_NAME] },
  ],
  [
    "variables of its own",
    withDriver({ ...REGISTRAR, env: [ENV] }),
    { ...swapped(1, [...READY, ...PATHS]), "containers.1.env.1": NODE_NAME },
  ],
  [
    "the node's name",
    withDriver({ ...REGISTRAR, env: [{ ...NODE_NAME, name: "KUBE_NODE_NAME" }] }),
    swapped(1, [...READY, ...PATHS]),
  ],
  [
    "no token",
    { ...withDriver(REGISTRAR), automountServiceAccountToken: false },
    { "containers.1.image": OURS },
  ],
])("with %s: what the node's readiness needs", async (_what, spec, changes) => {
  expect(await changesOf(cluster, "ready", spec)).toEqual(changes);
});
