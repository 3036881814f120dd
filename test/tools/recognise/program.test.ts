import { behindRegistrar, isRegistrar } from "../../../src/tools/recognise/program";
import { type Changes, daemonSet, expectSaid, said, saidOf, TOLD } from "../doctor/files/one-daemon-set";

test("a SIP registrar is not recognised, whatever its container's name", () => {
  const sip = { name: "registrar", image: "example.com/sip/registrar:v1", args: ["--listen=:5060"] };
  expect(isRegistrar(sip, {})).toBe(false);
  expect(isRegistrar({ ...sip, args: ["--csi-address=/csi/csi.sock"] }, {})).toBe(true);
});

test("Node's own options come before its program", () => {
  const words = ["node", "--no-warnings", "-max-old-space-size=64", "/cli.js", "--v=5"];
  expect(behindRegistrar(words)).toEqual(["--v=5"]);
});

const UNKNOWN =
  /^CSI101 unknown: runs an unknown program: its image x\/y:v1 is neither .* -> .* name it with --image=IMAGE; a copy of the official/;
const small = { resources: { limits: { memory: "30Mi" } } };
const livenessProbe = { httpGet: { path: "/livez", port: 1 } };
const other = (container: object): Changes => ({
  ...{ image: "x/y:v1", ...small, livenessProbe, ...container },
});
const PATHS = ["--csi-address=/csi/csi.sock", TOLD];

test("the predecessor of 2018 has a hint of its own", () => {
  for (const more of [
    {},
    { image: "quay.io/k8scsi/driver-registrar:v0.2.0", args: ["--csi-address=/csi/csi.sock"] },
  ])
    expectSaid(saidOf({ image: "quay.io/k8scsi/driver-registrar:v0.4.2", ...more }), [
      /^CSI101 unknown: .* is the driver-registrar of 2018, .* -> take csi-node-driver-registrar or this registrar,/,
    ]);
});

test("the all-in-one sidecar of KEP-4958 is known, and its command line starts our image", () => {
  const command = ["csi-sidecars", "--controllers=node-driver-registrar", ...PATHS];
  expect(saidOf({ command, args: [] })).toEqual([]);
  const image = "registry.k8s.io/sig-storage/csi-sidecars:v0.1.0";
  expectSaid(saidOf(other({ image, command, args: [] })), [
    /^CSI101 unknown: .* is the all-in-one sidecar of KEP-4958 -> /,
  ]);
  const more = command.map((word) => word.replace(/(?<=r)egistrar$/, "egistrar,attacher"));
  expect(saidOf({ command: more, args: [] })).toContainEqual(
    expect.stringMatching(/^CSI101 problem: does not start: .*-controllers: this program is/),
  );
});

const ONE_MOUNT = [{ name: "plugin", mountPath: "/csi" }];

test.each<[what: string, container: object, more?: RegExp]>([
  ["the program of another image", { command: ["/csi-node-driver-registrar"], args: PATHS }],
  ["a subcommand", { args: ["csi-node-driver-registrar", ...PATHS] }],
  ["flags that we do not have", { args: ["--not-ours", ...PATHS] }],
  ["a word that would end our flags", { args: ["start", ...PATHS] }],
  ["one that makes its socket elsewhere", { args: PATHS, volumeMounts: ONE_MOUNT }],
  [
    "a path that kubelet does not find",
    { args: ["csi-node-driver-registrar", "--csi-address=/csi/a.sock", TOLD] },
    /^CSI102 problem: tells kubelet/,
  ],
])("of %s only what kubelet requires is judged", (_what, container, ...more) => {
  expectSaid(saidOf(other(container)), [UNKNOWN, ...(more as readonly RegExp[])]);
});

const OPEN = { image: `\${IMAGE}`, args: [`\${ARGS}`] };

test("what may be a registrar is unknown, beside one without a fault too", () => {
  const { image, args } = OPEN;
  expectSaid(said(daemonSet(), daemonSet({ name: "y", image, args })), [
    /^CSI101 unknown: has an argument that is not filled in: \$\{ARGS\} -> render the file first$/,
  ]);
});

const WRONG = "--kubelet-registration-path=/wrong";

test.each([
  `exec /csi-node-driver-registrar ${WRONG}`,
  `env A=b nice -n 5 /csi-node-driver-registrar --v=2 "${WRONG}"`,
  `tini -- csi-node-driver-registrar\n${WRONG}`,
  "exec registrar --kubelet-registration-path /wrong",
  `--v=2 ${WRONG}`,
])("a command line that has a registrar's argument is seen in an object of any kind: %s", (line) => {
  const pod = { containers: [{ name: "x", image: "x/y:v1", command: ["sh", "-c", line] }] };
  const STARTED = /^CSI101 unknown: is started by sh: /;
  const template = { spec: pod };
  const metadata = { name: "y" };
  const ofEachNode = { kind: "DaemonSet", metadata, spec: { selector: {}, template } };
  expectSaid(said(daemonSet(), ofEachNode), [STARTED]);
  const ofSome = { kind: "CronJob", metadata, spec: { jobTemplate: { spec: { template } } } };
  expectSaid(said(daemonSet(), ofSome), [STARTED, /^CSI107 warning: is in a CronJob: /]);
  for (const spec of [{ pods: [pod] }, { job: { template: { spec: pod } } }])
    expectSaid(said(daemonSet(), { kind: "Custom", metadata: { name: "y" }, spec }), [
      /^CSI113 unknown: .* it has a registrar's arguments, and its kind/,
    ]);
});

test("a longer flag, and a path that has the flag's name, are none of a registrar", () => {
  const words = ["x --kubelet-registration-paths=/wrong", "cat /tmp/--kubelet-registration-path=x"];
  for (const word of words) expect(isRegistrar({ name: "x", image: "x/y:v1", args: [word] }, {})).toBe(false);
});

test("a CronJob's pod is judged as any other", () => {
  const { containers } = daemonSet({ image: "registrar:v1", args: ["--csi-address=/csi/csi.sock", WRONG] })
    .spec.template.spec;
  const spec = { jobTemplate: { spec: { template: { spec: { containers } } } } };
  expect(said(daemonSet(), { kind: "CronJob", metadata: { name: "y" }, spec })).toContainEqual(
    expect.stringMatching(/^CSI103 problem: mounts the volume registration, and its pod has no volume/),
  );
});
