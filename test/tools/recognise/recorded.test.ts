import type { Tree } from "../../../src/kube-api/objects";
import { askOfficial } from "../../../src/tools/recognise/official";
import { type OurImage, parseOurImage, recognise } from "../../../src/tools/recognise/program";
import { byOutcome, rowsOf } from "../../support/recorded";

// What each container is taken for, recorded: `npx jest -u test/tools/recognise` writes it anew.

const K8S = "registry.k8s.io/sig-storage/csi-node-driver-registrar";
const IMAGES = [
  "",
  "registrar",
  "x/registrar:v1",
  "x/registrars:v1",
  "x/given:v3",
  "x/given:v4",
  "x/given:v3@sha256:0",
  "x/every/tag:v3",
  "x/theirs:v1",
  "x/swapped:v1",
  "x/csi-node-driver-registrar:v0.1.0",
  "x/csi-node-driver-registrar:0.1.0",
  "x/csi-node-driver-registrar:v3.0.0",
  "x/csi-node-driver-registrar:v2.17.0",
  "x/csi-node-driver-registrar:v2.8corp",
  "x/csi-node-driver-registrar:v1.2.0_x",
  "x/csi-node-driver-registrar:2.9.4",
  "x/csi-node-driver-registrar:v2.16.0-20260428",
  "x/csi-node-driver-registrar:v21.7",
  // docs/charts.md has this tag for JuiceFS.
  "x/csi-node-driver-registrar:version-0.1.0",
  "x/csi-node-driver-registrar",
  "x/csi-node-driver-registrar:latest",
  "x/csi-node-driver-registrar:main",
  "x/csi-node-driver-registrar:{{ .tag }}",
  "x/node-driver-registrar-fips:v2.1.0",
  "x/ose-csi-node-driver-registrar-rhel9:v4.20",
  "x/csi-node-driver-win-registrar:v2.8.1",
  "x/my-csi-node-driver-registrar-amd64:v2.3.0",
  "x/driver-registrar:v0.4.2",
  "x/csi-cluster-driver-registrar:v1.0.1",
  "x/csi-sidecars:v1",
  `${K8S}@sha256:0`,
  `mirror.corp:5000/${K8S}:sha-1`,
  "quay.io/k8scsi/csi-node-driver-registrar:x",
  "quay.io/openshift/csi-node-driver-registrar:x",
  "k8s.gcr.io/sig-storage/csi-node-driver-registrar:x",
  "registry.redhat.io/openshift4/ose-csi-node-driver-registrar:x",
  "mcr.microsoft.com/oss/v2/kubernetes-csi/csi-node-driver-registrar:x",
  "public.ecr.aws/csi-components/csi-node-driver-registrar:x",
  "public.ecr.aws/eks-distro/kubernetes-csi/csi-node-driver-registrar:x",
  "public.ecr.aws/others/csi-node-driver-registrar:x",
  "quay.io/openshift-release-dev/ocp-v4.20-art-dev@sha256:0",
  "x/many-programs:v1",
  "{{ .image }}",
];
const TOLD = "--kubelet-registration-path=/p/csi.sock";
const mount = (mountPath: string) => ({ volumeMounts: [{ name: "r", mountPath }] });
const CONTAINERS: readonly Tree[] = [
  {},
  { args: ["--v=2"] },
  { args: [TOLD] },
  { args: ["--csi-address=/csi/csi.sock"] },
  { args: ["sub", "--csi-address=/csi/csi.sock"] },
  { args: ["sub", TOLD] },
  { args: ["$(ARGS)"] },
  { args: ["--v=$(V)"] },
  { args: ["--listen=:5060"], name: "registrar" },
  { args: ["$(ARGS)"], name: "registrar" },
  mount("/registration"),
  mount("/registration//"),
  mount("/registrations"),
  { args: ["$ARGS"], ...mount("/registration") },
  { args: ["--endpoint=$(SOCKET)"], ...mount("/registration") },
  { command: ["sh", "-c", "exec $PROGRAM $ARGS"], name: "registrar" },
  { command: ["sh", "-c", "/csi-node-driver-registrar"], args: [TOLD] },
  { command: ["/csi-node-driver-registrar"], args: [TOLD] },
  { command: ["/csi-node-driver-registrar", "--mode=x"], name: "my-registrar" },
  { command: ["/bin/driver"], args: [TOLD] },
  { command: ["/bin/driver"], ...mount("/registration") },
  { command: ["registrar"], name: "registrar" },
  { command: ["/bin/registrar", TOLD] },
  { command: ["node", "--max-old-space-size=20", "/x/cli.js", "--csi-address=/csi/csi.sock"] },
  { command: ["/usr/bin/nodejs", "--version"] },
  { command: ["/csi-node-driver-registrar.exe"], args: [TOLD] },
  { command: ["csi-sidecars", "--controllers=node-driver-registrar", TOLD] },
  { command: ["/csi-node-driver-registrar"], args: [TOLD, "--nope"] },
  { command: ["/csi-node-driver-registrar"], args: [TOLD, "--csi-address=/p/*/csi.sock"] },
  { command: ["/csi-node-driver-registrar"], args: [TOLD], livenessProbe: { httpGet: { path: "/healthz" } } },
  { command: ["/csi-node-driver-registrar"], args: [TOLD], startupProbe: { httpGet: { path: "/readyz" } } },
];
const OURS: OurImage = {
  ...{ image: "x/given:v3", version: "v0.1.0", replaced: "x/theirs" },
  swapped: new Set(["x/swapped:v1", `${K8S}@sha256:0`]),
};

function told(container: Tree, pod: Tree = {}, ours = OURS): string {
  const found = recognise(container, pod, ours);
  if (found === undefined) return "no registrar";
  const { program, isForWindows, isReplaceable, foreign } = found;
  const { kind, ...more } = program;
  return [
    [kind, ...Object.values(more)].join(" "),
    `Windows ${isForWindows}`,
    `replaceable ${isReplaceable}`,
    ...foreign.programs.flatMap(({ what, program }) => (program ? `foreign ${what} ${program}` : [])),
    ...foreign.architectures.map((one) => `foreign architecture ${one}`),
  ].join(", ");
}
const inputOf = (one: unknown) => JSON.stringify(one).replace(/"affinity".*?"nodeSelectorTerms"/, "terms");

test("each image with each start", () => {
  const rowsFor = (image?: string) =>
    CONTAINERS.map((container) => [inputOf(container), told({ ...container, image })] as const);
  const rows = [undefined, ...IMAGES].map(
    (image) => [`${image || "(none)"}`, byOutcome(rowsFor(image))] as const,
  );
  expect(byOutcome(rows)).toMatchSnapshot();
});

const exec = (...command: readonly string[]) => ({ exec: { command } });
const needing = (...terms: readonly (readonly object[])[]): Tree => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
      },
    },
  },
});
const OS = "kubernetes.io/os";
const ARCH = "kubernetes.io/arch";
const PODS: readonly Tree[] = [
  {},
  { os: { name: "windows" }, nodeSelector: { [OS]: "linux" } },
  { os: { name: "linux" }, nodeSelector: { [OS]: "windows" } },
  { os: { name: "$(OS)" } },
  { securityContext: { windowsOptions: {} } },
  ...[OS, "beta.kubernetes.io/os", "cloud.google.com/gke-os-distribution", "zone", "{{ .label }}"].flatMap(
    (label) =>
      ["windows", "windows_ltsc", "linux", "<os>"].flatMap((value) => [
        { nodeSelector: { [label]: value } },
        ...["In", "NotIn", "Exists", "<op>"].map((operator) =>
          needing([{ key: label, operator, values: [value] }]),
        ),
      ]),
  ),
  { nodeSelector: { "node.kubernetes.io/windows-build": "" } },
  needing([{ key: "node.kubernetes.io/windows-build", operator: "Exists" }]),
  needing([{ key: "node.kubernetes.io/windows-build", operator: "DoesNotExist" }]),
  needing([{ key: OS, operator: "In", values: ["windows", "linux"] }]),
  needing([{ key: OS, operator: "In", values: [] }]),
  needing([{ key: OS, operator: "In", values: ["windows"] }], [{ key: "zone", operator: "Exists" }]),
  needing(
    [{ key: OS, operator: "In", values: ["windows"] }],
    [
      { key: "zone", operator: "Exists" },
      { key: OS, operator: "NotIn", values: ["linux"] },
    ],
  ),
  needing(),
  needing([{ key: "<label>", operator: "In", values: ["eu", "s390x"] }]),
  needing([{ key: OS, values: ["windows"] }]),
  { os: { name: "windows" } },
  ...[ARCH, "beta.kubernetes.io/arch", "zone", "<label>"].flatMap((key) =>
    [
      "amd64",
      "arm64",
      "386",
      "arm",
      "loong64",
      "mips64le",
      "ppc64le",
      "riscv64",
      "s390x",
      "eu",
      "$A",
    ].flatMap((value) => [
      { nodeSelector: { [key]: value } },
      ...(key === "zone"
        ? []
        : ["In", "NotIn", "<op>"].map((operator) =>
            needing([{ key, operator, values: [value, "arm64", value] }]),
          )),
    ]),
  ),
];
const MORE: readonly Tree[] = [
  { securityContext: { windowsOptions: {} } },
  { securityContext: { runAsUser: 0 } },
  { image: "x/csi-node-driver-win-registrar:v2@sha256:0" },
  { image: "x/csi-node-driver-win-registrar/more:v2" },
  { command: ["/csi-node-driver-registrar.exe"] },
  { command: ["csi-node-driver-registrar.EXE --v=2"] },
  { args: [TOLD, "--csi-address=unix://C:\\csi\\csi.sock"] },
  { args: [TOLD, "--csi-address=unix:/d:/csi/csi.sock"] },
  { args: [TOLD, "--csi-address=xC:/csi"] },
  { args: [TOLD, "$(WINDOWS)"] },
  { env: [{ name: "A", value: "C:\\csi" }] },
  { env: [{ name: "C:\\csi", value: "x" }] },
  { volumeMounts: [{ name: "c", mountPath: "C:\\csi" }] },
  ...["livenessProbe", "readinessProbe", "startupProbe"].flatMap((probe) => [
    { [probe]: exec("sh", "-c") },
    { [probe]: exec("/csi-node-driver-registrar", "--mode=x") },
  ]),
  ...["postStart", "preStop"].map((hook) => ({ lifecycle: { [hook]: exec("/bin/true") } })),
  ...["/csi-node-driver-registrar", "csi-node-driver-registrar", "csi-sidecars", "/csi-sidecars"].map(
    (program) => ({ command: [program] }),
  ),
  ...["/usr/local/bin/csi-sidecars", "/bin/csi-sidecars", "/registrar/cli.js", "/nodejs/bin/node"].map(
    (program) => ({ command: [program] }),
  ),
  { command: ["/bin/sh", "-c"], livenessProbe: exec("ls"), lifecycle: { postStart: exec("x") } },
  { image: "x/tools:v1", command: ["/bin/registrar"], livenessProbe: exec("ls") },
];

test("nodes and programs", () => {
  const own: Tree = { image: "x/csi-node-driver-registrar:v2.17.0", args: [TOLD] };
  const foreign: Tree = { nodeSelector: { [ARCH]: "s390x" } };
  const rows = [
    ...PODS.map((pod) => [inputOf(pod), told(own, pod)] as const),
    ...MORE.map((more) => [inputOf(more), told({ ...own, ...more }, foreign)] as const),
  ];
  expect(byOutcome(rows)).toMatchSnapshot();
});

test("which image may be named as ours", () => {
  const rows = [...IMAGES, "x/csi-node-driver-registrar:v2.17.0"].map((image) => {
    try {
      return [image, parseOurImage(image) === image ? "taken" : "another"] as const;
    } catch (error) {
      return [image, `${error}`.replace(image, "IMAGE")] as const;
    }
  });
  expect(byOutcome(rows)).toMatchSnapshot();
});

const LINES = [
  ...[
    "--log-text-split-streams",
    "",
    "--help",
    "-h --nope",
    "--v=2",
    "--v",
    "--v=x",
    "--timeout=1s",
    "--timeout=1",
    "--mode=x",
    "--mode=health-prob",
  ],
  ...["--http-endpoint=:1", "--health-port=1", "--plugin-registration-path=/r", "--enable-pprof"],
  ...["--logging-format=json", "--log-flush-frequency=1s", "--log-text-split-stream"],
  ...["--log-json-split-stream=false", "--log-text-info-buffer-size=1Ki", "--log-json-info-buffer-size=0"],
  ...["--log-text-split-stream --log-text-split-stream=false", "--automaxprocs", "--kubeconfig=/x"],
  ...["--logtostderr", "--stderrthreshold=INFO", "--vmodule=a=1", "--version", "--connection-timeout=1s"],
  ...["--nope", "--nope --nope2 --v=2 --nope", "--logtostderr --nope", "--nope --logtostderr"],
  ...["--node-name=x", "--require-driver --node-name=x --timeout=1", "word --nope"],
  Array.from({ length: 30 }, (_, at) => `--nope${at}`).join(" "),
];

test("what the official registrar does with its arguments, by its release", () => {
  const releases = [..."100 101 102 199 200 201 203 204 209 210 211 214 217 218".split(" "), ""];
  const rows = LINES.flatMap((line) => {
    const words = line === "" ? [] : line.split(" ");
    const outcomeOf = (release: string) => inputOf(askOfficial(words, Number(release) || undefined));
    return rowsOf(line || "(none)", releases, outcomeOf);
  });
  expect(byOutcome(rows)).toMatchSnapshot();
});
