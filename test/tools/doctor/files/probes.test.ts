import { readRegistrars } from "../../../../src/tools/doctor/files/read/registrars";
import { itemsOf, trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { type Changes, daemonSet, expectSaid, OFFICIAL, PATH, readAs, saidOf, TOLD } from "./one-daemon-set";

const http = (more: object = {}) => ({ livenessProbe: { httpGet: { path: "/healthz", port: 2, ...more } } });
const exec = (...words: readonly string[]) => ({
  livenessProbe: { exec: { command: ["/csi-node-driver-registrar", ...words] } },
});
const ADDRESS = "--csi-address=/csi/csi.sock";
const mode = (word: string) => exec(`--mode=${word}`, TOLD, ADDRESS);
const serving = (changes: Changes, pod = {}, endpoint = ":2"): Changes => ({
  ...{ more: [`--http-endpoint=${endpoint}`], pod, ...changes },
});
const beside = (fields: object) => ({ name: "beside", restartPolicy: "Always", ...fields });
const ON_NODE = { hostNetwork: true };
const REGISTRY = { name: "registration", mountPath: "/registration" };
const PLUGIN = { name: "plugin", mountPath: "/csi" };
/** A probe without the driver's path, in a container with the registration directory at another path. */
const elsewhere = (changes: Changes): Changes => ({
  more: ["--plugin-registration-path=/reg"],
  ...exec("--mode=kubelet-registration-probe", "--plugin-registration-path=/reg"),
  volumeMounts: [PLUGIN, { ...REGISTRY, mountPath: "/reg" }],
  ...changes,
});

const SECOND = /starts a second registrar -> use --http-endpoint and an httpGet on \/healthz$/;
const NO_PATH =
  /always fails: kubelet-registration-path is a required parameter -> add the container's --kubelet-registration-path/;
const official = (changes: Changes): Changes => ({ ...changes, image: OFFICIAL });
/** Without a container that may serve what the probe asks. */
const alone = (changes: Changes): Changes => {
  const [own] = daemonSet(changes).spec.template.spec.containers;
  return { ...changes, pod: { containers: [own], ...changes.pod } };
};

test.each<readonly [expected: RegExp, Changes]>([
  [/has a livenessProbe on HTTP, and the registrar serves none/, http()],
  [
    /has a readinessProbe on gRPC, and the registrar serves none -> add --http-endpoint=:3, and use httpGet on \/healthz, port 3$/,
    { readinessProbe: { grpc: { port: 3 } } },
  ],
  [/on HTTP, and .* serves none -> add --http-endpoint=:2$/, http({ path: "/metrics" })],
  [/on HTTP, and .* serves none -> .*=:2, and use httpGet/, official(http({ path: "/metrics" }))],
  [/on HTTP, and .* serves none -> .*=:9809, and use httpGet on \/healthz, port 9809$/, http({ port: "x" })],
  [
    /on HTTP, and .* serves none -> take a release from v2\.1 on, and add --http-endpoint=:2$/,
    { ...http(), image: "x/csi-node-driver-registrar:v2.0.1" },
  ],
  [/on port 1, and the registrar serves 2/, serving(http({ port: 1 }))],
  [
    /on port http, which its ports do not declare -> add \{name: http, containerPort: 2\} to its ports, or write 2$/,
    serving({ ...http({ port: "http" }), ports: [{ name: "web", containerPort: 2 }] }),
  ],
  [/has a startupProbe on port 3, and .* serves 2/, serving({ startupProbe: { tcpSocket: { port: 3 } } })],
  [/on \/health, which it does not serve/, serving(http({ path: "/health" }))],
  [/on \/readyz/, serving({ ...http({ path: "/readyz" }), image: OFFICIAL })],
  [
    /asks the pod's address, .* localhost only -> write --http-endpoint=:2$/,
    serving(http(), {}, "localhost:2"),
  ],
  [/serves ::1 only -> write --http-endpoint=:2/, serving(http(), ON_NODE, "[::1]:2")],
  [/serves 127\.0\.0\.11 only/, serving(http(), {}, "127.0.0.11:2")],
  [/asks 127\.0\.0\.1, .* the node's .*-> remove host$/, serving(http({ host: "127.0.0.1" }))],
  [/with HTTPS, and the registrar serves plain HTTP -> use httpGet on/, serving(http({ scheme: "HTTPS" }))],
  [/with gRPC, and the registrar serves plain HTTP/, serving({ livenessProbe: { grpc: { port: 2 } } })],
  [SECOND, official(mode("ready-probe"))],
  [SECOND, official(mode("healthprobe"))],
  [SECOND, official(exec(TOLD))],
  [SECOND, exec(TOLD)],
  [
    /always fails: invalid value \\?"healthprobe\\?" for flag -mode: did you mean health-probe\? -> correct that argument$/,
    mode("healthprobe"),
  ],
  [
    /always fails: flag provided but not defined: -csi-adress -> .*did you mean --csi-address\?$/,
    exec("--mode=ready-probe", "--csi-adress=/x", TOLD),
  ],
  [
    /always fails: flag provided but not defined: -require-driver -> take --require-driver out/,
    official(exec("--mode=kubelet-registration-probe", "--require-driver", TOLD)),
  ],
  [NO_PATH, exec("--mode=health-probe")],
  [
    /asks the driver at \/run\/csi\/socket, and its registrar has \/csi\/csi\.sock: .* always passes -> add --csi-address=\/csi\/csi\.sock to it$/,
    exec("--mode=health-probe", TOLD),
  ],
  [NO_PATH, exec("--mode=kubelet-registration-probe")],
  [NO_PATH, elsewhere({ image: OFFICIAL })],
])("%s", (expected, changes) => {
  const [line = "", ...more] = saidOf(alone(changes));
  expect(line).toMatch(/^CSI104 problem: has a /);
  expect(line).toMatch(expected);
  expect(more).toEqual([]);
});

test.each<readonly [port: unknown, beside: object, status: string, own: number]>([
  [9809, { args: ["--health-port=9809"] }, "warning: .* on port 9809, which is container beside's: it", 9810],
  [9808, { image: "x/livenessprobe:v2" }, "warning: .* on port 9808, which is container beside's: it", 9809],
  [1, { ports: [{ containerPort: 1 }, { containerPort: 9809 }] }, "warning: .* on port 1, which is", 9810],
  [
    1,
    { ports: [{ containerPort: 2 }] },
    "unknown: .* serves none: whether another program serves port 1 is not",
    1,
  ],
  ["x", { ports: [{ name: "x", containerPort: 2 }] }, "problem: .* serves none", 9809],
])("a probe on port %s beside %j: %s", (port, other, status, own) => {
  const initContainers = [beside(other)];
  const [line = "", ...more] = saidOf({ ...http({ port }), pod: { initContainers } });
  expect(line).toMatch(new RegExp(`^CSI104 ${status}.* -> add --http-endpoint=:${own}(?!\\d)`));
  expect(more).toEqual([]);
});

test.each<readonly [what: string, port: number, pod: object, more: object]>([
  [
    "a flag that doctor does not know",
    9810,
    { initContainers: [beside({ args: ["--healthz-port=9810"] })] },
    {},
  ],
  ["its config", 9810, { initContainers: [beside({ args: ["--config=/etc/x"] })] }, {}],
  ["its environment", 9810, { initContainers: [beside({ envFrom: [{ configMapRef: { name: "c" } }] })] }, {}],
  ["the node", 9810, ON_NODE, {}],
  ["another host", 9810, {}, { host: "10.0.0.1" }],
])("who may serve a probe's port by %s, so that it is no problem", (_what, port, pod, more) => {
  expectSaid(
    saidOf(alone({ ...http({ port, ...more }), pod })).filter((line) => !/^CSI115/.test(line)),
    [/^CSI104 unknown: .* serves none: whether another program serves port 9810 is not known -> add/],
  );
});

test.each([{ port: "{{ x }}" }, { host: "{{ x }}" }])("whom a probe with %j asks is unknown", (open) => {
  const initContainers = [beside({ args: ["--health-port={{ x }}"] })];
  expectSaid(saidOf({ ...http(open), pod: { initContainers } }), [
    /^CSI104 unknown: has a livenessProbe that is not filled in: {{ x }} -> render the file first$/,
  ]);
});

test.each<readonly [what: string, found: string, ...command: string[]]>([
  ["another program", "", "/bin/$(X)", "/$(PROGRAM)"],
  ["a variable without a value, which stays as it is", "", "$(NONE)", TOLD],
  ["may be the registrar", "PROGRAM", "$(PROGRAM)", TOLD],
  ["may be the registrar by node", "PROGRAM", "node", "/app/$(PROGRAM)", TOLD],
])("a probe's program: %s", (_what, variable, ...command) => {
  const env = ["PROGRAM", "X"].map((name) => ({ name, valueFrom: { configMapKeyRef: { key: name } } }));
  const value = variable === "" ? { name: "X", value: "check" } : {};
  expectSaid(
    saidOf({
      image: OFFICIAL,
      env: [...env, value],
      livenessProbe: { exec: { command } },
      command: ["/csi-node-driver-registrar"],
    }),
    variable === ""
      ? []
      : [new RegExp(`^CSI104 unknown: .* depends on \\$\\(${variable}\\), which is defined`)],
  );
});

test("whether a container serves the port of a probe is unknown while its own port is not filled in", () => {
  const initContainers = [beside({ args: ["--health-port={{ x }}"] })];
  expectSaid(saidOf({ ...http({ port: 9809 }), pod: { initContainers } }), [
    /^CSI104 unknown: .* on port 9809, and whether container beside serves it is not filled in: {{ x }}/,
  ]);
  const more = ["--http-endpoint=:2", "--metrics-path=/$X"];
  expectSaid(saidOf({ ...http({ path: "/m" }), more }), [
    /^CSI104 unknown: .* on \/m, and whether it serves that is not filled in: --metrics-path \/\$X/,
  ]);
});

test("the mode that proves nothing", () => {
  const expected = /^CSI104 warning: .* --mode=kubelet-registration-probe, which proves nothing/;
  expectSaid(saidOf(mode("kubelet-registration-probe")), [expected]);
  const last = exec("--mode=health-probe", "-mode", "kubelet-registration-probe", TOLD);
  expectSaid(saidOf(last), [expected]);
});

const mountedAt = (mountPath: string, readOnly = false) => [
  ...[PLUGIN, REGISTRY],
  { name: "plugin", mountPath, readOnly },
];

/** Up to v2.8 it looks for a file beside the driver's socket, as kubelet has its path. */
test.each<readonly [why: string, changes: Changes, isWell?: boolean]>([
  // awslabs' aws-fsx-openzfs-csi-driver.
  ["its root file system is read-only", { securityContext: { readOnlyRootFilesystem: true } }],
  // kubernetes-csi's csi-driver-nvmf.
  ["v2.6.0 and v2.6.1 do not make it", { image: "x/csi-node-driver-registrar:v2.6.0" }],
  [`${PATH} is mounted read-only`, { volumeMounts: mountedAt(PATH, true) }],
  [
    "a volume is there",
    { volumeMounts: mountedAt(PATH), securityContext: { readOnlyRootFilesystem: true } },
    true,
  ],
  [
    "v2.6.0, with a mount below it",
    { image: "x/csi-node-driver-registrar:v2.6.0", volumeMounts: mountedAt(`${PATH}/x`) },
    true,
  ],
  ["v2.6.2 makes it", { image: "x/csi-node-driver-registrar:v2.6.2" }, true],
])("the file of the official mode up to v2.8: %s", (why, changes, isWell = false) => {
  const image = "x/csi-node-driver-registrar:v2.8.0";
  const all = saidOf({ ...mode("kubelet-registration-probe"), image, ...(changes as object) });
  const text = `CSI104 problem: has a livenessProbe that always fails: the registrar must make a file in ${PATH} of its container, and ${why} -> `;
  expect(all).toEqual(isWell ? [] : [expect.stringContaining(text)]);
});

test.each<readonly [image: string, ...said: RegExp[]]>([
  ["x/csi-node-driver-registrar:v2.8.0"],
  ["x/csi-node-driver-registrar:v2.9.0", /^CSI104 warning: /],
  [
    "registry.k8s.io/sig-storage/csi-node-driver-registrar@sha256:0",
    /^CSI104 unknown: .* from v2\.9 on, and always fails before v2\.3: its release is not known/,
  ],
])("the mode in %s", (image, ...said) => {
  expectSaid(saidOf({ ...mode("kubelet-registration-probe"), image }), said);
});

test.each<Changes>([
  serving(http({ host: "localhost" }), ON_NODE, "localhost:2"),
  serving(http({ host: "10.0.0.1" })),
  serving({ livenessProbe: { tcpSocket: { port: 2 } } }),
  serving({ ...http({ port: "healthz" }), ports: [{ name: "healthz", containerPort: 2 }] }),
  mode("health-probe"),
  {
    ...exec("--mode=health-probe", "--kubelet-registration-path=$(TOLD)", ADDRESS),
    env: [{ name: "TOLD", value: `${PATH}/csi.sock` }],
  },
  exec("--version"),
  { livenessProbe: { exec: { command: ["/csi/check", "--mode=x"] } }, image: OFFICIAL },
  {
    ...exec("--mode=kubelet-registration-probe", "--kubelet-registration-path=/x--mode=y"),
    image: "x/csi-node-driver-registrar:v2.8.0",
  },
  {
    ...exec("--mode=kubelet-registration-probe", "--new", TOLD),
    image: "csi-node-driver-registrar@sha256:0",
  },
  elsewhere(exec("--mode=health-probe", "--plugin-registration-path=/reg", ADDRESS)),
  exec("--mode=ready-probe", TOLD),
  serving(http({ path: "/livez" })),
  serving(http({ port: undefined })),
  serving(http({ path: "/healthz?verbose=1" })),
  { ...serving(http({ path: "/m" })), more: ["--http-endpoint=:2", "--metrics-path=/m"] },
  serving(http({ host: "localhost.example.com" })),
  serving(http({ host: "my-localhost" })),
])("no fault in %j", (changes) => {
  expect(saidOf(changes)).toEqual([]);
});

const FROM_MAP = {
  env: [{ name: "M", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } }],
};
const DEPENDS = /^CSI104 unknown: .* depends on \$\(M\), which is defined elsewhere/;

test.each<readonly [expected: readonly RegExp[], Changes]>([
  [[DEPENDS], { ...FROM_MAP, ...exec(TOLD, "--mode=$(M)") }],
  [[DEPENDS], { ...FROM_MAP, ...exec("$(M)") }],
  [[DEPENDS], { ...FROM_MAP, ...exec("--mode=health-probe", TOLD, "--timeout=$(M)") }],
  [[DEPENDS], { envFrom: [{ configMapRef: { name: "c" } }], ...exec("--mode=$(M)", TOLD) }],
  [[/^CSI104 problem: .*second registrar/], { ...FROM_MAP, ...exec(TOLD, "--v=$(M)") }],
  [[/^CSI104 problem: /], exec(TOLD, "--mode=$(M)")],
  [[/^CSI101 unknown: .*\$\(M\)/], { ...FROM_MAP, more: ["--mode=$(M)"] }],
  [[/^CSI101 unknown: .*\$\(M\)/], { ...FROM_MAP, more: ["--mode=$(M)"], image: OFFICIAL }],
  [[], { ...FROM_MAP, more: ["--v=$(M)"] }],
])("%s: a mode that another object has is not judged: %j", (expected, changes) => {
  expectSaid(saidOf(changes), expected);
});

test("the probes are judged beside a wrong flag", () => {
  const official = { ...http({ path: "/readyz" }), image: OFFICIAL };
  expectSaid(saidOf({ more: ["--http-endpoint=:2", "--require-driver"], ...official }), [
    /^CSI101 problem: .*-require-driver/,
    /^CSI104 problem: .*\/readyz/,
  ]);
});

test.each<readonly [expected: RegExp, Changes]>([
  [/^CSI101 .*-require-driver/, { more: ["--require-driver"], ...http(), image: OFFICIAL }],
  [/^CSI101 unknown: runs an unknown program/, { ...http(), image: "x/y:v1" }],
  [/^CSI101 unknown: is started by \/csi\/x/, { ...http(), command: ["/csi/x"] }],
  [
    /^CSI104 unknown: .* runs \/csi\/check, and whether a file of a volume runs in/,
    { livenessProbe: { exec: { command: ["/csi/check", "--mode=healthprobe", "--nope"] } } },
  ],
  [/^CSI101 problem: .*-nope/, { more: ["--nope"], ...http() }],
  [/^CSI101 problem: .* required parameter/, { ...http(), args: [] }],
])(
  "a probe is not judged where it, or the registrar's own settings, are unknown: %s",
  (expected, changes) => {
    expectSaid(saidOf(changes), [expected]);
  },
);

test("a container may have a port that none of its flags and ports tells", () => {
  const other = beside({ ports: [{ containerPort: 3 }] });
  const { registrars } = readRegistrars(readAs("a.yaml", [daemonSet({ pod: { initContainers: [other] } })]));
  const all = itemsOf(registrars).flatMap((one) => itemsOf(one.beside));
  const toldOf = (port: string) => all.map(({ tells }) => trueOrNull(tells(port)));
  expect([toldOf("3"), toldOf("4")]).toEqual([expect.arrayContaining([true]), [null, null]]);
});
