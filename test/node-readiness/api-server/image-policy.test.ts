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

const ADDED = ["--on-registration-failure=retry", "--http-endpoint=:9"];
const cluster = useCluster(async (started) => {
  await applyPolicy(started, "swap", IMAGE, ...ADDED.map((word) => `--arg=${word}`));
  await enforced(started, "swap");
});

const swapped = (at: number, args: readonly string[] = [...ADDED, ...PATHS], list?: string): Changes =>
  swappedTo(at, args, list);
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

test.each<readonly [string, PodSpec, Changes]>([
  ["a registrar", withDriver(REGISTRAR), swapped(1)],
  [
    "what the policy made itself, or a chart that has this image",
    withDriver({ ...REGISTRAR, image: OURS, args: [...ADDED, ...PATHS], ...limits("64Mi", "50m") }),
    {},
  ],
  [
    "this image in a chart",
    withDriver({ ...REGISTRAR, image: OURS }),
    { "containers.1.args": [...ADDED, ...PATHS] },
  ],
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
  [
    "limits of 0, which are none",
    withDriver({ ...REGISTRAR, ...limits("0", "0"), livenessProbe: { ...PROBE, timeoutSeconds: 10 } }),
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

test("a pod that was swapped takes an ephemeral container, which stays as it is given", async () => {
  const pods = "/api/v1/namespaces/swap/pods";
  const metadata = { name: "debugged", namespace: "swap" };
  const body = { apiVersion: "v1", kind: "Pod", metadata, spec: withDriver(REGISTRAR) };
  const { signal } = new AbortController();
  expect(await cluster.admin.call({ method: "POST", path: pods, body }, signal)).toMatchObject({
    kind: "done",
  });
  const debug = { name: "debug", image: REGISTRAR.image, args: PATHS };
  const added = await cluster.patch(`${pods}/debugged/ephemeralcontainers`, "strategic-merge-patch", {
    spec: { ephemeralContainers: [debug] },
  });
  expect(added).toMatchObject({
    kind: "done",
    value: {
      spec: {
        containers: [DRIVER, { image: OURS, args: [...ADDED, ...PATHS] }],
        ephemeralContainers: [debug],
      },
    },
  });
});
