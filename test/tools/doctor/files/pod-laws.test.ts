import { replaceAt, treesIn, valueAt } from "../../../support/places";
import {
  type Changes,
  daemonSet,
  expectSaid,
  findingsOfSwapIn,
  OFFICIAL,
  PATH,
  said,
  saidOf,
  TOLD,
} from "./one-daemon-set";

// What a pod's own fields decide: mounts, probes, ports, init containers; and what our image cannot run.

const REGISTRY = "/var/lib/kubelet/plugins_registry";
const HTTP = { more: ["--http-endpoint=:9809"] };
const volumes = (plugin: object, registry: object = {}) => ({
  pod: {
    volumes: [
      { name: "plugin", hostPath: { path: PATH, ...plugin } },
      { name: "registration", hostPath: { path: REGISTRY, ...registry } },
    ],
  },
});
const LOCAL_METRICS = "--metrics=127.0.0.1:9809";
const POD_IP = [{ name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }];
const ELSEWHERE = [{ name: "IP", valueFrom: { configMapKeyRef: { name: "x", key: "ip" } } }];
/** One that serves on `$(IP)`, beside a driver. */
const on = (env: readonly object[], fields: object, ...args: readonly string[]) =>
  beside({ more: ["--http-endpoint=$(IP):9809"], env, ...fields }, { name: "driver", args });
/** The registrar beside a driver with these arguments, whose livenessProbe asks the registrar's port. */
const asked = (...args: readonly string[]) =>
  beside(HTTP, { name: "driver", args, livenessProbe: httpGet("/healthz") });
const httpGet = (path: string, port: unknown = 9809) => ({ httpGet: { path, port } });

/** The registrar as an init container beside a driver. */
function asInit(changes: Changes, fields: object) {
  const object = daemonSet(changes);
  const [registrar, driver] = object.spec.template.spec.containers;
  const spec = {
    ...object.spec.template.spec,
    containers: [driver],
    initContainers: [{ ...registrar, ...fields }],
  };
  return { ...object, spec: { ...object.spec, template: { spec } } };
}
/** The registrar beside another container. */
function beside(changes: Changes, other: object) {
  const object = daemonSet(changes);
  const { spec } = object.spec.template;
  return {
    ...object,
    spec: { ...object.spec, template: { spec: { ...spec, containers: [spec.containers[0], other] } } },
  };
}
const liveness = (args: readonly string[], more: object = {}) => ({
  ...{ name: "live", image: "registry.k8s.io/sig-storage/livenessprobe:v2.18.0", args, ...more },
});

test.each<readonly [expected: RegExp | string, object: object]>([
  [
    /^CSI112 unknown: is for nodes whose operating system is not filled in: .* -> render the file first$/,
    daemonSet({ more: ["--nope"], pod: { nodeSelector: { "kubernetes.io/os": "{{ .os }}" } } }),
  ],
  [
    /^CSI101 unknown: runs an unknown program: its image {{ \.image }} is not filled in -> render the file first$/,
    daemonSet({ image: "{{ .image }}" }),
  ],
  [
    /^CSI101 unknown: has an argument that is not filled in: {{ \.args }} -> render the file first$/,
    beside({}, { name: "reg2", image: "{{ .image }}", args: ["--csi-address=/csi/csi.sock", "{{ .args }}"] }),
  ],
  [
    /^CSI101 unknown: has an argument that is not filled in: csi-address "{{ \.socket }}" is not .* -> render/,
    daemonSet({ args: ["--csi-address={{ .socket }}", TOLD] }),
  ],
  [
    /^CSI113 unknown: cannot be judged: its items has {{ \.items }} where a list must be -> render the file first$/,
    { kind: "DaemonSetList", items: "{{ .items }}" },
  ],
  [
    /^CSI103 problem: has a hostPath of type File at \/registration, .* -> write type: Directory for \/var\/lib\/kubelet\/plugins_registry$/,
    daemonSet(volumes({}, { type: "File" })),
  ],
  [/^CSI102 problem: has a hostPath of type Socket at \/csi, /, daemonSet(volumes({ type: "Socket" }))],
  [
    `^CSI102 problem: mounts the driver's socket itself at /csi/csi.sock: .* -> mount its directory, the hostPath ${PATH}, at /csi$`,
    daemonSet({
      ...{ plugin: { hostPath: { path: `${PATH}/csi.sock`, type: "Socket" } } },
      volumeMounts: [
        { name: "plugin", mountPath: "/csi/csi.sock" },
        { name: "registration", mountPath: "/registration" },
      ],
    }),
  ],
  [
    /^CSI104 problem: .* kubelet restarts the registrar meanwhile -> ask \/healthz/,
    daemonSet({ ...HTTP, livenessProbe: httpGet("/readyz") }),
  ],
  [
    /^CSI104 problem: has a startupProbe on \/readyz, .* kubelet restarts the registrar meanwhile -> ask/,
    daemonSet({ ...HTTP, startupProbe: httpGet("/readyz?x") }),
  ],
  [
    /^CSI104 problem: .*: the driver's container starts only when it succeeds/,
    asInit({ ...HTTP, startupProbe: httpGet("/readyz") }, { restartPolicy: "Always" }),
  ],
  [/^CSI106 problem: is an init container, and never ends/, asInit({}, {})],
  // Whether that ends is not known.
  [
    /^CSI101 unknown: is started by \/tools\/sh: /,
    asInit({ image: "x/csi-node-driver-registrar:v2.17.0", command: ["/tools/sh", "-c", "cp"] }, {}),
  ],
  [
    /^CSI104 problem: serves port 9809, and the livenessProbe of container driver asks it/,
    beside(HTTP, { name: "driver", livenessProbe: httpGet("/healthz") }),
  ],
  [
    /^CSI109 warning: serves port 9809, which is one of container driver's ports/,
    beside(HTTP, {
      name: "driver",
      ports: [{ name: "h", containerPort: 9809 }],
      livenessProbe: httpGet("/healthz", "h"),
    }),
  ],
  [
    /^CSI109 problem: serves port 9809, and so does container live/,
    beside(HTTP, liveness(["--health-port=9809"])),
  ],
  [
    /^CSI109/,
    beside(HTTP, { name: "driver", command: ["sh", "-c", "exec driver --metrics-address '0.0.0.0:9809'"] }),
  ],
  [
    /^CSI109 problem/,
    beside(HTTP, { name: "driver", args: ["--metrics=:9809"], livenessProbe: httpGet("/healthz") }),
  ],
  [/^CSI109 unknown: .* is not filled in: @PORT@ -> render/, asked("--health-port=@PORT@")],
  [/^CSI109 unknown: .* is not filled in: :{{ \.p }}9 -> render/, asked("--metrics-address=:{{ .p }}9")],
  [
    /^CSI109 problem: serves port 9809, and so does container driver/,
    asked("--http-endpoint={{ .Values.host }}:9809"),
  ],
  [
    /^CSI104 unknown: .*asks it: whether .* itself is not known: it has --listen=:9809/,
    asked("--listen=:9809"),
  ],
  [/^CSI104 unknown: .* itself is not filled in: --listen={{ \.f }}/, asked("--listen={{ .f }}")],
  [/^CSI104 problem: .* container driver asks it/, asked("--listen=:98090", "--v=5")],
  [/^CSI109 warning/, beside(HTTP, { name: "driver", ports: [{ containerPort: 80, hostPort: 9809 }] })],
  [
    /^CSI109 unknown: serves port 9809, and whether container live does is not filled in: {{ \.args }} -> render/,
    beside(HTTP, liveness(["{{ .args }}"])),
  ],
  [
    /^CSI109 unknown: .* is not filled in: \$\(HP\) -> see where its env takes \$\(HP\) from: 9809 must be/,
    beside(HTTP, liveness(["--health-port=$(HP)"])),
  ],
  [
    /^CSI101 unknown: has a postStart hook, and whether its image has that program is not filled in: {{ \.x }}/,
    daemonSet({
      image: "{{ .x }}/csi-node-driver-registrar:v2.17.0",
      lifecycle: { postStart: { exec: { command: ["sh"] } } },
    }),
  ],
  [
    /^CSI106 unknown: is an init container whose restartPolicy is not filled in: \{\{ \.policy }} -> render/,
    asInit({}, { restartPolicy: "{{ .policy }}" }),
  ],
  [
    /^CSI109 unknown: .* and whether container init does is not filled in: {{ \.policy }} -> render/,
    daemonSet({
      ...HTTP,
      pod: { initContainers: [{ name: "init", restartPolicy: "{{ .policy }}", args: ["--metrics=:9809"] }] },
    }),
  ],
  [/^CSI109 problem: serves port 9808/, beside({ more: ["--http-endpoint=:9808"] }, liveness(["--v=2"]))],
  [/^CSI104 problem: has a livenessProbe on port 1, /, on(POD_IP, { livenessProbe: httpGet("/healthz", 1) })],
  [
    /^CSI104 unknown: .* asks the pod's address, and where the registrar serves cannot be seen here: \$\(IP\)/,
    // The last one of a name counts.
    on([...POD_IP, ...ELSEWHERE], { livenessProbe: httpGet("/healthz") }),
  ],
  [
    /^CSI101 problem: does not start: it cannot listen on \$\(IP\), which its env .* -> define IP /,
    on([], { livenessProbe: httpGet("/healthz") }),
  ],
  [/^CSI109 problem/, on(ELSEWHERE, {}, "--metrics=:9809")],
  [/^CSI109 unknown: .*: whether on one address cannot be seen here/, on(ELSEWHERE, {}, LOCAL_METRICS)],
  [
    /^CSI109 unknown: .*: whether on one address cannot be seen here/,
    on(ELSEWHERE, {}, "--metrics={{.host}}:9809"),
  ],
])("%s", (expected, object) => {
  expectSaid(said(object), [expected]);
});

test.each<readonly [what: string, object: object]>([
  ["directories", daemonSet(volumes({ type: "DirectoryOrCreate" }, { type: "Directory" }))],
  ["types that say nothing", daemonSet(volumes({ type: "" }, { type: null }))],
  ["a readiness probe on /readyz", daemonSet({ ...HTTP, readinessProbe: httpGet("/readyz") })],
  ["the pod's address", on([...ELSEWHERE, ...POD_IP], { livenessProbe: httpGet("/healthz") }, LOCAL_METRICS)],
  ["another port on an unknown address", on(ELSEWHERE, {}, "--metrics=:9810")],
  ["a native sidecar", asInit({ ...HTTP, startupProbe: httpGet("/healthz") }, { restartPolicy: "Always" })],
  ["an init container that prints the version", asInit({ args: ["--version"], volumeMounts: [] }, {})],
  [
    "the driver's readiness probe there",
    beside(HTTP, { name: "driver", readinessProbe: httpGet("/healthz") }),
  ],
  [
    "a livenessprobe on another port",
    beside({ more: ["--http-endpoint=:9808"] }, liveness(["--health-port=9898"])),
  ],
  ["a free port for each", beside({ more: ["--http-endpoint=:0"] }, liveness(["--health-port=0"]))],
])("nothing is wrong with %s", (_what, object) => {
  expect(said(object)).toEqual([]);
});

const SHELL = { command: ["/bin/sh", "-c", "exec /csi-node-driver-registrar"] };
const ppc64le = { nodeSelector: { "kubernetes.io/arch": "ppc64le" } };
const termOf = (key: string, operator: string, ...values: readonly string[]) => {
  const nodeSelectorTerms = [{ matchExpressions: [{ key, operator, values }] }];
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  };
};
const ON_LINUX = { os: { name: "linux" } };
const termsWith = (operator: string, ...values: readonly string[]) =>
  termOf("kubernetes.io/arch", operator, ...values);

test.each<readonly [what: string, changes: Changes, expected: readonly RegExp[]]>([
  ["a shell", SHELL, [/^CSI101 problem has a command that runs \/bin\/sh/]],
  [
    "a shell in a probe",
    { livenessProbe: { exec: { command: ["sh", "-c", "x"] } } },
    [/^CSI104 problem has a livenessProbe that runs sh/],
  ],
  [
    "a shell in a hook",
    { lifecycle: { postStart: { exec: { command: ["sh"] } } } },
    [/^CSI101 problem has a postStart hook that runs sh/],
  ],
  [
    "a shell in a hook of its end",
    { lifecycle: { preStop: { exec: { command: ["sh"] } } } },
    [/^CSI101 warning has a preStop hook that runs sh, and this registrar's image has no other program/],
  ],
  ["the registrar itself", { command: ["/csi-node-driver-registrar"] }, []],
  [
    "the registrar at another path",
    { command: ["/x/csi-node-driver-registrar"] },
    [/^CSI101 problem has a command that runs \/x\/csi-node-driver-registrar/],
  ],
  ["nodes of ppc64le", { pod: ppc64le }, [/^CSI110 warning may run on ppc64le nodes/]],
  [
    "nodes of s390x, by affinity",
    { pod: termsWith("In", "amd64", "s390x") },
    [/^CSI110 warning may run on s390x nodes/],
  ],
  ["nodes of arm64", { pod: termsWith("In", "amd64", "arm64") }, []],
  ["nodes that are not of s390x", { pod: termsWith("NotIn", "s390x") }, []],
  [
    "nodes of any",
    { pod: termsWith("In", "amd64", "<arch>") },
    [/^CSI110 unknown .* architecture is not filled in: <arch>$/],
  ],
  [
    "nodes that an operator chooses that is not filled in",
    { pod: termsWith("<operator>", "s390x") },
    [/^CSI110 unknown .* architecture is not filled in: <operator> s390x$/],
  ],
  [
    "nodes by a label that is not filled in",
    { pod: { ...ON_LINUX, ...termOf("<label>", "In", "s390x", "amd64") } },
    [/^CSI110 unknown .* architecture is not filled in: <label> s390x$/],
  ],
  [
    "nodes by a node selector with such a label",
    { pod: { ...ON_LINUX, nodeSelector: { "<label>": "s390x" } } },
    [/^CSI110 unknown .* architecture is not filled in: <label> s390x$/],
  ],
  ["nodes of a zone by such a label", { pod: { ...ON_LINUX, ...termOf("<label>", "In", "eu-1") } }, []],
])("a swap of %s", (_what, changes, expected) => {
  const found = findingsOfSwapIn([daemonSet({ image: OFFICIAL, ...changes })]);
  expectSaid(
    found.map(({ code, status, text }) => `${code} ${status} ${text}`),
    expected,
  );
});

test("an image of which only the command is known may have a shell, and be built for other nodes", () => {
  const command = ["/usr/local/bin/registrar"];
  const changes = { image: "x/tools:v1", command, livenessProbe: { exec: { command: ["sh"] } } };
  expectSaid(saidOf({ ...changes, pod: ppc64le }), []);
});

test("a field that is null, wherever it is, is an absent one", () => {
  const prepared = beside(HTTP, { name: "driver" });
  const { spec } = prepared.spec.template;
  const initContainers = [{ name: "prep", args: ["--health-port=9809"], ports: [{ containerPort: 9809 }] }];
  const ended = { ...prepared, spec: { ...prepared.spec, template: { spec: { ...spec, initContainers } } } };
  expectSaid(said(ended), []);
  const told = (object: object) => JSON.stringify([said(object), findingsOfSwapIn([object])]);
  const wrong = [ended, asInit({ image: OFFICIAL }, {}), asInit(HTTP, { restartPolicy: "Always" })].flatMap(
    (whole) =>
      treesIn(whole).filter((path) => {
        const value = valueAt(whole, path);
        const other = replaceAt(whole, path, { ...Object(value), none: null }) as object;
        return !Array.isArray(value) && told(other) !== told(whole);
      }),
  );
  expect(wrong).toEqual([]);
});
