import { readRegistrars } from "../../../../src/tools/doctor/files/read/registrars";
import { trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import {
  type Changes,
  daemonSet,
  expectSaid,
  findingsOfSwapIn,
  OFFICIAL,
  PATH,
  readAs,
  said,
  saidOf,
  TOLD,
  verdictsIn,
} from "./one-daemon-set";

const TAINT = "--remove-startup-taint=x.csi/agent-not-ready";
const PROBE = "--mode=kubelet-registration-probe";
const HEAP = "--metrics-path=/debug/pprof/heap";

test.each<readonly [expected: RegExp, Changes]>([
  [/^CSI101 problem: does not start: flag provided but not defined: -nope/, { more: ["--nope"] }],
  [
    /^CSI101 unknown: has an argument that is not filled in: .*\$CONDITION.* -> render the file first/,
    { more: ["--node-condition=$CONDITION", "--node-name=n1"] },
  ],
  // Where its directory is was not read.
  [
    /^CSI101 problem: .*: -nope/,
    {
      more: ["--nope", "--plugin-registration-path=/reg"],
      volumeMounts: [
        { name: "plugin", mountPath: "/csi" },
        { name: "registration", mountPath: "/reg" },
      ],
    },
  ],
  [/not defined: -csi-adress -> .*: did you mean --csi-address\?$/, { more: ["--csi-adress=/x"] }],
  [/name -> add to its env: .*NODE_NAME/, { more: [TAINT], env: [{ name: "NODE_NAME", value: "" }] }],
  ...[
    { configMapKeyRef: { name: "c", key: "k", optional: true } },
    { fieldRef: { fieldPath: "metadata.labels['x']" } },
  ].map((valueFrom): readonly [RegExp, Changes] => [
    /^CSI101 unknown: needs the node's name, which cannot be seen here: NODE_NAME may have it/,
    { more: [TAINT], env: [{ name: "NODE_NAME", valueFrom }] },
  ]),
  [
    /^CSI101 unknown: .*: \$\{NODE\} may have it/,
    { more: [TAINT], env: [{ name: "NODE_NAME", value: `\${NODE}` }] },
  ],
  [/^CSI101 unknown: .*: \{\{ x \}\} may have it/, { more: [TAINT, "--node-name={{ x }}"] }],
  [/^CSI101 problem: .*need the node's name/, { more: ["--node-condition=x.csi/Registered"] }],
  [
    /^CSI101 unknown: needs the node's name, which cannot be seen here: its envFrom may have it/,
    { more: [TAINT], envFrom: [{ configMapRef: { name: "c" } }] },
  ],
  [/^CSI101 problem: does not start: node condition "a b": the type/, { more: ["--node-condition=a b"] }],
  [/^CSI101 problem: does not start: .*the type must/, { more: ["--node-condition={driver}"] }],
  [/^CSI101 problem: .* node condition "\$\(TYPE\)": the type/, { more: ["--node-condition=$(TYPE)"] }],
  [/-require-driver -> take --require-driver out, or/, { more: ["--require-driver"], image: OFFICIAL }],
  [
    /-automaxprocs -> take --automaxprocs and --require-driver out, or take this registrar's image/,
    { more: ["--automaxprocs", "--require-driver"], image: OFFICIAL.replace(/v2.*/, "v2.9.0") },
  ],
  [
    /-require-driver -> take --require-driver and --nope out: the official registrar does not have these flags$/,
    { more: ["--require-driver", "--nope"], image: OFFICIAL },
  ],
  [
    /^CSI101 unknown: starts with some releases only: the official registrar has --logtostderr before v2\.11 only -> take/,
    { more: ["--logtostderr"], image: "k8s.gcr.io/sig-storage/csi-node-driver-registrar" },
  ],
  [
    /^CSI101 problem: does not start: timeout is 3600000s; it takes .* 24 days/,
    { more: ["--timeout=1000h"] },
  ],
  [/^CSI101 problem: .*not a listen address/, { more: ["--http-endpoint=x"] }],
  [/^CSI101 problem: .*is served already/, { more: ["--http-endpoint=:1", "--enable-pprof", HEAP] }],
  [/^CSI101 problem: .*required parameter/, { more: ["--kubelet-registration-path="] }],
  [
    /^CSI101 problem: stops parsing at "true"; ignored: .* -> write --enable-pprof=true$/,
    { args: ["--enable-pprof", "true", "--kubelet-registration-path=/x"] },
  ],
  [/-> write ASCII hyphens: --v=3$/, { more: ["–-v=3"] }],
  [/-> take the quotes out: --v=3$/, { more: ['"--v=3"'] }],
  [
    /^CSI101 warning: stops parsing at "register"; ignored: register --v=3 -> take register out$/,
    { more: ["register", "--v=3"] },
  ],
  ...[["true"], ["--node-name", "version", "true"]].map((more): [RegExp, Changes] => [
    /^CSI101 warning: stops parsing at "true"; ignored: true -> take true out$/,
    { more },
  ]),
  ...["registrar:v1", OFFICIAL].flatMap((image): readonly [RegExp, Changes][] => [
    [/^CSI101 problem: registers nothing: its --mode is a probe,/, { image, more: [PROBE] }],
    [/^CSI101 problem: .* prints its version and ends -> remove --version$/, { image, more: ["--version"] }],
    [/^CSI101 unknown: .* not filled in: --mode={{ \.m }} -> render/, { image, more: ["--mode={{ .m }}"] }],
    [/^CSI101 problem: .*-nope/, { image, more: ["--nope", "--mode={{ .m }}"] }],
  ]),
  // The official one has limits of its own.
  ...["csi.sock", "tcp://127.0.0.1:10000"].map((address): [RegExp, Changes] => [
    /^CSI101 problem: restarts forever: the official registrar dials \S+, which is no unix socket's address/,
    { image: OFFICIAL, more: [`--csi-address=${address}`] },
  ]),
  ...["--csi-address=unix://csi/csi.sock", "--csi-address=", "--timeout=0", "--http-endpoint=:nope"].map(
    (word): [RegExp, Changes] => [
      /^CSI101 problem: does not start: (?:csi-address (?:unix.*non-empty|is empty)|timeout is 0s|http-endpoint ":nope")/,
      { image: OFFICIAL, more: [word] },
    ],
  ),
  // A variable that is nowhere stays as it is in the container, too.
  [
    /^CSI101 problem: does not start: csi-address "\$\(ADDRESS\)" is not/,
    { more: ["--csi-address=$(ADDRESS)"] },
  ],
  [/^CSI101 problem: .*"\$\(LEVEL\)" for flag -v: .* -> define LEVEL in its env/, { more: ["--v=$(LEVEL)"] }],
  ...["--health-port=@PORT@", "--http-endpoint=:{{ .port }}"].map((word): [RegExp, Changes] => [
    /^CSI101 unknown: has an argument that is not filled in: --[a-z-]*=:?[@{$].* -> render the file first$/,
    { more: [word], livenessProbe: { httpGet: { path: "/healthz", port: 9809 } } },
  ]),
])("%s", (expected, changes) => {
  expectSaid(saidOf(changes), [expected]);
});

test.each(["--timeout=1000h", "--http-endpoint=:http", "--timeout=100h"])(
  "the official registrar takes %s, and a swap tells where ours does not",
  (word) => {
    const official = daemonSet({ image: OFFICIAL, more: [word] });
    expect(said(official)).toEqual([]);
    const swapped = findingsOfSwapIn([official]).map(({ code, status }) => `${code} ${status}`);
    expect(swapped).toEqual(word === "--timeout=100h" ? [] : ["CSI101 problem"]);
  },
);

test.each([`--timeout=\${T}s`, "--http-endpoint={{ .x }}"])(
  "with %s, which is not filled in, the other arguments are judged",
  (word) => {
    const path = `${PATH}/other.sock`;
    expectSaid(
      saidOf({ args: ["--csi-address=/csi/csi.sock", `--kubelet-registration-path=${path}`, word] }),
      [
        /^CSI101 unknown: has an argument that is not filled in: --/,
        /^CSI102 problem: tells kubelet .*\/other.sock, but/,
      ],
    );
  },
);

test("of the variables in a path that nothing defines, ten are named", () => {
  const names = Array.from({ length: 11 }, (_, at) => `DIRECTORY_${at}`);
  const path = `--kubelet-registration-path=${names.map((name) => `/$(${name})`).join("")}`;
  const said = saidOf({ more: [path] }).filter((text) => text.startsWith("CSI102"));
  expect(said.map((text) => /takes \$\((\w+)\), which/.exec(text)?.[1])).toEqual(names.slice(0, 10));
});

const elsewhere = (name: string) => ({
  name,
  valueFrom: { configMapKeyRef: { name: "settings", key: name } },
});

const STARS = [
  "--csi-address=/csi/*/csi.sock",
  "--kubelet-registration-path=/var/lib/kubelet/plugins/*/csi.sock",
];
const nodeWide = (image: string, ...more: readonly string[]): Changes => ({
  more: [...STARS, ...more],
  plugin: { hostPath: { path: "/var/lib/kubelet/plugins" } },
  image,
});
const RESTARTS = /^CSI101 problem: restarts forever: .* literally: \/csi\/\*\/csi\.sock -> write/;

const ONE_TEXT = `--csi-address=/csi/csi.sock ${TOLD}`;
const joined = (args: unknown): Changes => ({ image: OFFICIAL, args });
const JOINED =
  /^CSI101 problem: has several arguments in one item: --csi-address=.* -> write each as an item of its own$/;

test.each<readonly [changes: Changes, expected: readonly RegExp[]]>([
  [nodeWide(OFFICIAL), [RESTARTS]],
  // A flag of this registrar.
  [nodeWide(OFFICIAL, "--deny-drivers=x"), [RESTARTS, /^CSI101 problem: .* not defined: -deny-drivers/]],
  [nodeWide("registrar:v1"), []],
  [
    nodeWide("registrar:v1", "--allow-drivers=*"),
    [/^CSI101 .*: allowed driver "\*": give NAME, NAME=\/path, or/],
  ],
  [
    nodeWide("registrar:v1", "--remove-startup-taint=a/b"),
    [/^CSI101 problem: .* "a\/b" would be the same for several drivers: write \{driver\}/],
  ],
  [nodeWide("x/y:v1"), [/^CSI101 unknown/]],
  // Several arguments in one text.
  [joined([ONE_TEXT]), [JOINED]],
  [joined([`--v=5\n${ONE_TEXT}\n`]), [/^CSI101 problem: has several/]],
  [joined([`-v=5 ${ONE_TEXT}`]), [/^CSI101 problem: has several/]],
  [joined(ONE_TEXT), [/^CSI113 unknown: .*\.args has .* where a list must be -> correct it/]],
  [{ more: ["--node-name=a b"] }, []],
  [{ image: "x/y:v1", args: [ONE_TEXT] }, [/^CSI101 unknown/]],
])("paths with *, and several arguments in one text: %j", (changes, expected) => {
  expectSaid(saidOf(changes), expected);
});

test("that no object of some files has a registrar is no certain no, where one has a container", () => {
  const { identities } = readRegistrars(
    readAs("a.yaml", [{ kind: "Pod", spec: { containers: [{ name: "x", image: "{{ .image }}" }] } }]),
  );
  expect(trueOrNull(identities.contains(({ hasRegistrar }) => hasRegistrar))).toBe(null);
});

test.each<Changes>([
  { more: [TAINT, "--node-name=n1"] },
  { more: [TAINT], env: [elsewhere("KUBE_NODE_NAME")] },
  { more: ["--logtostderr"], image: "rancher/x-csi-node-driver-registrar:v2.9.0-eks-1" },
  { more: ["--logtostderr"], image: "node-driver-registrar/registrar:v1" },
  { more: ["--http-endpoint=:1", HEAP] },
  // No probes of this program.
  { more: ["--mode=health-probe"], image: OFFICIAL },
  { more: ["--mode=$(M)"] },
  // An installer fills in a log level later.
  { more: ["-v={{ .level }}"] },
  // No path, so that the rest can be judged.
  { more: ["--http-endpoint=$(POD_IP):9809"], env: [elsewhere("POD_IP")] },
])("no fault in %j", (changes) => {
  expect(saidOf(changes)).toEqual([]);
});

test.each<readonly [isWell: boolean, argument: string]>([
  [true, "--v=2"],
  [false, "--v={{ .level }}"],
  [false, `-v=\${LEVEL}`],
  [false, "--v=$(LEVEL)"],
])("that it starts is known: %s, with %s, which may be filled in with no number", (isWell, argument) => {
  for (const image of ["registrar:v1", OFFICIAL]) {
    const verdicts = verdictsIn([daemonSet({ image, more: [argument], env: [elsewhere("LEVEL")] })]);
    const ofArguments = verdicts.filter(({ code }) => code === "CSI101").map(({ status }) => status);
    expect(ofArguments).toEqual(isWell ? ["ok"] : []);
  }
});

test.each<readonly [args: readonly string[], container: object, variable: string]>([
  [["--csi-address=$(ADDRESS)"], { env: [elsewhere("ADDRESS")] }, "ADDRESS"],
  [["--kubelet-registration-path=$(ROOT)/plugins/x/csi.sock"], { env: [elsewhere("ROOT")] }, "ROOT"],
  [["--node-condition=$(TYPE)", "--node-name=n1"], { env: [elsewhere("TYPE")] }, "TYPE"],
  [["--timeout=$(TIMEOUT)", "--node-name=$(NODE)"], { envFrom: [{ configMapRef: {} }] }, "TIMEOUT"],
])("%j is not judged, because a variable is defined elsewhere", (args, container, variable) => {
  expectSaid(saidOf({ more: args, ...container }), [
    `^CSI101 unknown: takes \\$\\(${variable}\\) from elsewhere: .* -> run`,
  ]);
});

test("a variable from elsewhere does not hide another fault of the arguments", () => {
  const more = ["--http-endpoint=$(POD_IP):9809", "--nope=$(POD_IP)"];
  expectSaid(saidOf({ more, env: [elsewhere("POD_IP")] }), [/CSI101 problem: .*-nope/]);
});

test.each([
  [["/bin/sh", "-c"], ["/csi-node-driver-registrar --csi-address=/csi/csi.sock"]],
  [["/start.sh"], ["--nope", "--kubelet-registration-path=/csi/x.sock"]],
  [["/tini", "--", "/csi-node-driver-registrar", "--nope"], []],
  [["$(PROGRAM)"], ["--nope"]],
])("paths and probes are not judged when %j starts the registrar", (command, args) => {
  const livenessProbe = { httpGet: { port: 2 } };
  const [line = "", ...more] = saidOf({ image: OFFICIAL, command, args, volumeMounts: [], livenessProbe });
  expect(line).toContain(`CSI101 unknown: is started by ${command[0]}: `);
  expect(more).toEqual([]);
});

const K8S = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0";

test("nor has it a registrar at another path", () => {
  expectSaid(saidOf({ image: K8S, command: ["/bin/registrar"] }), [
    /^CSI101 problem: has a command that runs \/bin\/registrar, .* -> leave the command out,/,
  ]);
  expectSaid(saidOf({ image: K8S, command: ["/csi-node-driver-registrar"] }), []);
});

const NO_OTHER = "CSI101 problem: has a command that runs /bin/sh, and its image has no other program";

test.each<readonly [expected: string, image: string, command: readonly string[], mountPath: string]>([
  [NO_OTHER, K8S, ["/bin/sh", "-c"], "/csi"],
  ["CSI101 problem: has a command that runs sh,", K8S, ["sh", "-c"], "/csi"],
  ["CSI101 unknown: is started by /bin/sh:", OFFICIAL, ["/bin/sh", "-c"], "/csi"],
  ["CSI101 unknown: is started by /bin/sh:", K8S.replace("v2.17.0", "v1.0.1"), ["/bin/sh", "-c"], "/csi"],
  ["CSI101 unknown: is started by /scripts/start:", K8S, ["/scripts/start"], "/scripts"],
  [
    "CSI101 unknown: has a command that is not filled in: {{ .Values.shell }} -> render",
    K8S,
    ["{{ .Values.shell }}"],
    "/csi",
  ],
])(
  "kubernetes-csi's image starts no program that it does not have: %s",
  (expected, image, command, mountPath) => {
    const volumeMounts = [{ name: "plugin", mountPath }];
    const [line = "", ...more] = saidOf({ image, command, args: [`exec /registrar ${TOLD}`], volumeMounts });
    expect(line).toContain(expected);
    expect(more).toEqual([]);
  },
);

test.each([
  [["/csi-node-driver-registrar", "--nope"]],
  [["/usr/local/bin/registrar", "--nope"]],
  [["csi-sidecars", "--controllers=node-driver-registrar", "--nope"]],
  [["/nodejs/bin/node", "/registrar/cli.js", "--nope"]],
  [["/nodejs/bin/node", "--disable-sigusr1", "/registrar/cli.js", "--nope"]],
  [["node", "node_modules/.bin/registrar", "--nope"]],
])("a registrar's own arguments are judged: %j", (command) => {
  expect(saidOf({ command })).toContainEqual(expect.stringMatching(/^CSI101 prob.*-nope/));
});

const SOME = /^CSI107 warning: is in a \w+: only the nodes with its pods .* -> use a DaemonSet, unless/;
test.each<readonly [kind: string, ...says: RegExp[]]>([
  ["Pod"],
  ["DaemonSet"],
  ...["Deployment", "ReplicaSet", "StatefulSet", "Job"].map((kind): [string, RegExp] => [kind, SOME]),
  ["{{ .kind }}", /^CSI107 unknown: is in an object whose kind is not filled in: \{\{ .kind \}\}/],
])("a registrar in a %s is judged", (kind, ...says) => {
  const { spec, ...other } = daemonSet({ more: ["--nope"] });
  const one = { ...other, kind, spec: kind === "Pod" ? spec.template.spec : spec };
  expectSaid(said(one), [/^CSI101 problem: .*-nope/, ...says]);
});
