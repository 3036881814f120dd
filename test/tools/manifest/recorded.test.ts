import { byOutcome } from "../../support/recorded";

// What the command writes, recorded: `npx jest -u test/tools/manifest/recorded` writes it anew. Nothing but an API server evaluates
// the policies: try a change of theirs with `npm run test:api-server`.

const print = (text: string) => {
  texts.push(text);
  return 0;
};
jest.doMock("../../../src/runtime/print", () => ({ print, printError: print }));
let texts: string[] = [];

async function written(...words: readonly string[]) {
  const { runManifest } = await import("../../../src/tools/manifest/command");
  texts = [];
  const status = await runManifest(words);
  return { status, text: texts.join("\n") };
}

const IMAGE = "--image=registrar:v1";
const DRIVER = ["--driver-name=x.csi.example.com", IMAGE, "--driver-image=x:v2"];
const READINESS = [
  "--startup-taint={driver}/agent-not-ready",
  "--startup-taint=x.{driver}/b:NoExecute",
  "--node-condition={driver}/Registered",
];
const POLICY = ["--image-policy", IMAGE];

test.each<[what: string, words: readonly string[]]>([
  ["a driver", DRIVER],
  [
    "a driver with all flags",
    [
      ...DRIVER,
      ...READINESS,
      "--name=n",
      "--namespace=on",
      "--distribution=openshift",
      "--http-port=1234",
      "--driver-arg=--endpoint=unix:///csi/csi.sock",
      "--driver-arg=- b",
    ],
  ],
  ["a driver whose condition is fixed", [...DRIVER, "--node-condition=a/b", "--kubelet-root=/k/"]],
  ["a whole node", ["--node-wide", IMAGE]],
  [
    "a whole node with all flags",
    [
      "--node-wide",
      IMAGE,
      ...READINESS,
      "--allow-drivers=x.csi,y.csi=/plugins/y/csi.sock",
      "--nodes=b,node/a",
      "--distribution=microk8s",
    ],
  ],
  [
    "a whole node with any driver's taints",
    ["--node-wide", IMAGE, ...READINESS, "--startup-taint=x.{driver}/y", "--distribution=openshift"],
  ],
  ["an image policy", POLICY],
  [
    "an image policy with all flags",
    [
      ...POLICY,
      "--name=mine",
      "--namespace=a",
      "--namespace=b",
      "--nodes=n,m",
      "--match-image=a.b",
      "--match-image=c",
      "--arg=--vmodule=a=1",
      "--arg=--v=5",
      "--metrics-port=9809",
      "--metrics-port=host:a/b=9810",
      "--keep=cpu",
      "--kubernetes-version=1.34",
    ],
  ],
  [
    "an image policy with a port for pods of a network of their own",
    [...POLICY, "--metrics-port=1", "--keep=memory,probe-timeouts"],
  ],
  [
    "an image policy that drops",
    ["--image-policy", "--drop", "--kubelet-root=/k.x/", "--kubernetes-version=v1.35.1"],
  ],
  [
    "an image policy that drops on some nodes",
    ["--image-policy", "--drop", "--nodes=a", "--distribution=k0s"],
  ],
])("%s", async (_what, words) => {
  const { status, text } = await written(...words);
  expect(`${status}\n${text}`).toMatchSnapshot();
});

const long = (length: number) => "x".repeat(length);
const ARGS = [
  ...[
    "--v=2",
    "--v",
    "--v=x",
    "v",
    "--help",
    "--nope",
    "--csi-adress=/x",
    "--csi-address=/x",
    "--node-name=x",
    "--mode=x",
  ],
  ...[
    "--http-endpoint=:1",
    "--logtostderr",
    "--connection-timeout=1s",
    "--automaxprocs",
    "--version",
    "--allow-drivers=x",
  ],
  ...[
    "--deny-drivers=x",
    "--driver-gone-after=1s",
    "--remove-startup-taint=a/b",
    "--node-condition=a/b",
    "--timeout=0s",
  ],
  ...[
    "--plugin-registration-path=/x",
    "--kubelet-registration-path=/x",
    "--metrics-path=/healthz",
    "--logging-format=json",
  ],
];
const WRONG: readonly (readonly [words: readonly string[], more: readonly string[]])[] = [
  [
    [IMAGE, "--driver-image=x:v2"],
    ["", "a_b", "X.csi", "a.-b", long(64), "../x"].map((name) => `--driver-name=${name}`),
  ],
  [DRIVER.slice(1), [""]],
  [DRIVER, ["a.b", "", long(64), "-a", "0"].map((name) => `--name=${name}`)],
  [DRIVER, ["-", "A"].map((name) => `--namespace=${name}`)],
  [
    DRIVER,
    ["var/lib", "/", "//", "/var//", "/a/../b", "/a:b", "/a/.", "/./a", "/a b", "/..a", `/${long(90)}`].map(
      (root) => `--kubelet-root=${root}`,
    ),
  ],
  [DRIVER, ["0", "1", "65535", "65536", "1.5", "x"].map((port) => `--http-port=${port}`)],
  [
    DRIVER,
    ["a", "{driver}", "a/b:Nope", "kubernetes.io/x", "node.kubernetes.io/not-ready", ""].map(
      (taint) => `--startup-taint=${taint}`,
    ),
  ],
  [
    DRIVER,
    ["Ready", "{driver}", "a/b", "kubernetes.io/x", "", `${long(60)}.{driver}/x`].map(
      (type) => `--node-condition=${type}`,
    ),
  ],
  [
    DRIVER,
    [
      "--node-wide",
      "--nodes=a",
      "--allow-drivers=a",
      "--distribution=none",
      "--distribution=k0s",
      "--nope",
      "word",
    ],
  ],
  [
    ["--node-wide", IMAGE],
    ["", "=", "a_b", "a=x", "*", "a,,b", ",", "a=/p/**/s"].map((names) => `--allow-drivers=${names}`),
  ],
  [["--node-wide", IMAGE], ["", ",", "a b", "A", "node/"].map((nodes) => `--nodes=${nodes}`)],
  [
    ["--driver-name=x.csi", "--driver-image=x:v2"],
    ["", "a b", "registrar", "x/csi-node-driver-registrar:v2.17.0"].map((image) => `--image=${image}`),
  ],
  [
    ["--driver-name=x.csi", IMAGE],
    ["", "a b", "http://x", "registrar"].map((image) => `--driver-image=${image}`),
  ],
  [
    ["--node-wide", IMAGE],
    [
      ...[
        "--driver-name=x",
        "--kubelet-root=/k --distribution=k0s",
        "--startup-taint=a/b",
        "--startup-taint=node.x/y",
      ],
      "--startup-taint={driver}/x --allow-drivers=node.kubernetes.io",
    ],
  ],
  [
    DRIVER,
    [
      ...["--allow-drivers=a --node-wide=false", "--driver-arg --v=2", "--image-policy=false --drop"],
      ...["--distribution=microk9s", "--driver-name=y"],
    ],
  ],
  [["--node-wide"], ["", "--image=x/csi-node-driver-registrar:v2.17.0"]],
  [
    POLICY,
    [
      ...[
        "--nodes=,",
        "--metrics-port=1 --metrics-port=2",
        "--drop=false -arg -v 2",
        "--arg=--v=2 --arg --timeout=2s",
      ],
      ...[
        "--arg=--on-registration-failur=retry",
        "--arg=--node-condition-delay=-1s",
        "--arg=--v=1 --arg=-v=2",
      ],
      ...["--arg=--health-port=1", "--arg=--vmodule=x=1 --arg=--logging-format=json"],
    ],
  ],
  [
    ["--image-policy"],
    [
      "",
      "--drop",
      "--image=",
      "--image=a b",
      "--image=registrar",
      "--image-policy=x",
      "--image-policy=false",
    ],
  ],
  [POLICY, ARGS.map((arg) => `--arg=${arg}`)],
  [
    [...POLICY, "--arg=--v=1"],
    ["--arg=--v=2", "--arg=--timeout=1s"],
  ],
  [
    POLICY,
    ["0", "1", "65535", "65536", "x", "host:a=1", "host:a/b=0", "host:A/b=1", "host:a/b=x"].map(
      (port) => `--metrics-port=${port}`,
    ),
  ],
  [
    [...POLICY, "--metrics-port=host:a/b=1"],
    ["--metrics-port=host:a/c=1", "--metrics-port=host:a/b=2", "--metrics-port=1"],
  ],
  [
    POLICY,
    ["1.33", "1.34", "1.36", "v1.35.2", "1.35+k3s", "1.35x", "2.0", "1.", ""].map(
      (one) => `--kubernetes-version=${one}`,
    ),
  ],
  [
    POLICY,
    ["", "A", "a:v1", "0a.b-c_d", "livenessprobe", "csi-attacher"].map((image) => `--match-image=${image}`),
  ],
  [
    POLICY,
    [
      "--namespace=A",
      "--name=a.b",
      "--nodes=A",
      "--keep=x",
      "--keep=memory",
      "--drop",
      "--distribution=k0s",
      "--kubelet-root=/k",
    ],
  ],
  [
    ["--image-policy", "--drop"],
    ["--keep=cpu", "--arg=--v=1", "--metrics-port=1", "--kubelet-root=/a:b", "--namespace=a"],
  ],
];

test("what is refused, and why", async () => {
  const rows: (readonly [string, string])[] = [];
  for (const [words, all] of WRONG)
    for (const more of all) {
      const { status, text } = await written(...words, ...more.split(/ (?=-)/).filter(Boolean));
      rows.push([
        [...words, more].join(" ").replaceAll(/x{20,}/g, (found) => `x{${found.length}}`),
        status === 0 ? "written" : `${status}: ${text}`,
      ]);
    }
  expect(byOutcome(rows)).toMatchSnapshot();
});
