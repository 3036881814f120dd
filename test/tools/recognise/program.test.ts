import type { Tree } from "../../../src/kube-api/objects";
import { isRegistrar, programOf } from "../../../src/tools/recognise/program";
import { type Changes, daemonSet, expectSaid, said, saidOf, TOLD } from "../doctor/files/one-daemon-set";

const K8S = "registry.k8s.io/sig-storage/csi-node-driver-registrar";
const MIRROR = "harbor.corp/infra/csi-node-driver-registrar";

test.each<readonly [image: string, program: "ours" | "unknown" | number | undefined]>([
  ["example.com/registrar:v0.1.0", "ours"],
  ["localhost:5000/registrar@sha256:0", "ours"],
  [`${MIRROR}:v0.1.0`, "ours"],
  [`${MIRROR}:0.1.0`, "ours"],
  ["harbor.corp/given:v3@sha256:0", "ours"],
  ["harbor.corp/every/tag:v3", "ours"],
  ["harbor.corp/every/tag/csi-node-driver-registrar:v2.18.0", 218],
  ["harbor.corp/given/csi-node-driver-registrar:v2.18.0", "ours"],
  [`${K8S}:v2.17.0`, 217],
  [`${MIRROR}:2.9.4`, 209],
  ["rancher/mirrored-longhornio-csi-node-driver-registrar:v2.16.0-20260428", 216],
  ["mcr.microsoft.com/oss/kubernetes-csi/csi-node-driver-registrar:v1.2.1-alpha.1-windows-1809", 102],
  ["public.ecr.aws/eks-distro/kubernetes-csi/node-driver-registrar:v2.10.0-eks-1-29-5", 210],
  ["registry.k8s.io/sig-storage/csi-node-driver-win-registrar:v2.8.1", 208],
  [`${K8S}@sha256:0`, undefined],
  [`docker.io/${K8S}`, undefined],
  ["registry.redhat.io/openshift4/ose-csi-node-driver-registrar:v4.12", undefined],
  ["quay.io/k8scsi/driver-registrar:v1.0-canary", "unknown"],
  ["quay.io/k8scsi/csi-cluster-driver-registrar:v1.0.1", "unknown"],
  [`${MIRROR}@sha256:0`, undefined],
  [MIRROR, undefined],
  [`${MIRROR}:latest`, undefined],
  [`${MIRROR}:v21.7`, "unknown"],
  // docs/charts.md has this tag for JuiceFS.
  [`${MIRROR}:version-0.1.0`, "unknown"],
  [`${MIRROR}:v2.17corp`, "unknown"],
  ["ghcr.io/topolvm/topolvm-with-sidecar:0.41.0@sha256:0", "unknown"],
  ["harbor.corp/given:v4", "unknown"],
  ["", "unknown"],
])("%s is %s", (image, expected) => {
  const given = ["given:v3", "given/csi-node-driver-registrar", "every/tag"]
    .map((one) => `harbor.corp/${one}`)
    .find((one) => image.startsWith(one));
  const program = programOf({ image }, { image: given, version: "v0.1.0" });
  expect(program.kind === "official" ? program.release : program.kind).toBe(expected);
});

test("a package in any image", () => {
  const command = ["node", "/app/node_modules/registrar/dist/cli.js"];
  expect(programOf({ image: "node:24", command }, {}).kind).toBe("ours");
});

const TOPOLVM = "ghcr.io/topolvm/topolvm-with-sidecar:0.36.3";
const PAYLOAD = "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:0";
const STARTED = { image: TOPOLVM, command: ["/csi-node-driver-registrar", "--csi-address=/csi/csi.sock"] };
const PUBLISHES = "--kubelet-registration-path=/var/lib/kubelet/plugins/x/csi.sock";

test.each<readonly [container: Tree, kind: string]>([
  [STARTED, "official"],
  [{ ...STARTED, livenessProbe: { httpGet: { path: "/healthz" } } }, "official"],
  [{ ...STARTED, args: ["--csi-address=/plugins/*/csi.sock"] }, "unknown"],
  [{ ...STARTED, args: ["--on-registration-failure=retry"] }, "unknown"],
  [{ ...STARTED, livenessProbe: { httpGet: { path: "/livez" } } }, "unknown"],
  [{ ...STARTED, command: ["sh", "-c", "/csi-node-driver-registrar"] }, "unknown"],
  [{ ...STARTED, image: "" }, "unknown"],
  [{ ...STARTED, image: "{{ .Values.image }}" }, "unknown"],
  [{ ...STARTED, image: "registry.k8s.io/sig-storage/csi-sidecars:v0.1.0" }, "unknown"],
  [{ ...STARTED, image: `${MIRROR}:v21.7` }, "unknown"],
  [{ image: PAYLOAD, args: [PUBLISHES] }, "official"],
  [{ image: PAYLOAD, args: ["--v=2"] }, "unknown"],
  [{ image: PAYLOAD, command: ["/driver"], args: [PUBLISHES] }, "unknown"],
])("the official program in an image that does not say so: %j is %s", (container, kind) => {
  expect(programOf(container, {})).toMatchObject(
    kind === "official" ? { kind, release: undefined } : { kind },
  );
});

test.each<readonly [container: object, isFound: boolean]>([
  [{}, true],
  [{ image: "registrar@sha256:0", args: ["--v=2"] }, true],
  [{ command: ["/csi-node-driver-registrar"], args: ["--v=2"] }, true],
  [{ args: ["driver", "--csi-address=/csi/csi.sock"] }, false],
  [{ command: ["/driver"] }, false],
  [{ image: "x/registrar:v1" }, false],
])("an image that --image names is a registrar's without its arguments: %j, %s", (container, isFound) => {
  const one = { name: "x", image: "registrar:v1", ...container };
  expect(isRegistrar(one, { image: "registrar" })).toBe(isFound);
  expect(isRegistrar(one, {})).toBe(false);
});

test.each([
  ["registrar", "/registration/", true],
  ["localhost:5000/x/registrar@sha256:0", "/registration", true],
  ["registrar", "/csi", false],
  ["registry:2", "/registration", false],
])("%s with a mount at %s is a registrar without its arguments: %s", (image, mountPath, isFound) => {
  expect(isRegistrar({ name: "my-registrar", image, volumeMounts: [{ mountPath }] }, {})).toBe(isFound);
});

test("a SIP registrar is not recognised, whatever its container's name", () => {
  const sip = { name: "registrar", image: "example.com/sip/registrar:v1", args: ["--listen=:5060"] };
  expect(isRegistrar(sip, {})).toBe(false);
  expect(isRegistrar({ ...sip, args: ["--csi-address=/csi/csi.sock"] }, {})).toBe(true);
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
  expectSaid(saidOf({ image: "quay.io/k8scsi/driver-registrar:v0.4.2" }), [
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
const REGISTRATION = [{ name: "registration", mountPath: "/registration" }];

test.each<readonly [container: Tree, isFound: boolean]>([
  [{ ...OPEN, name: "x", volumeMounts: REGISTRATION }, true],
  [{ ...OPEN, name: "node-driver-registrar" }, true],
  [{ ...OPEN, name: "registrar", image: "registrar:v1" }, true],
  [{ ...OPEN, name: "x", args: [], volumeMounts: REGISTRATION }, true],
  [{ ...OPEN, name: "registrar", command: ["sh", "-c", `exec \${PROGRAM} \${ARGS}`], args: [] }, true],
  [{ ...OPEN, name: "driver" }, false],
  [{ ...OPEN, name: "x", args: [`--endpoint=\${SOCKET}`], volumeMounts: REGISTRATION }, false],
  [{ ...OPEN, name: "x", image: "driver:v1", args: [], volumeMounts: REGISTRATION }, false],
])("a container that may be a registrar once it is filled in is one: %j, %s", (container, isFound) => {
  expect(isRegistrar(container, {})).toBe(isFound);
});

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
  const kinds = [
    { kind: "DaemonSet", spec: { selector: {}, template: { spec: pod } } },
    { kind: "CronJob", spec: { jobTemplate: { spec: { template: { spec: pod } } } } },
  ];
  for (const object of kinds)
    expectSaid(said(daemonSet(), { ...object, metadata: { name: "y" } }), [
      /^CSI101 unknown: is started by sh: /,
    ]);
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
