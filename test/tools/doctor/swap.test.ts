import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fencesIn, readText } from "../../docs/markdown";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";
import { type Changes, daemonSet, limits, OFFICIAL, TOLD, WINDOWS } from "./files/one-daemon-set";

/** The doctor's answer about these objects. A JSON file may have one object: a List has several. */
async function swap(words: readonly string[], ...items: readonly object[]) {
  await using folder = await createTempFolder();
  const file = folder.at("all.json");
  writeFileSync(file, JSON.stringify({ kind: "List", items }));
  const ended = await runCommand("doctor", ...words, "-f", file);
  return {
    ...ended,
    stdout: ended.stdout.replaceAll(file, "FILE"),
    stderr: ended.stderr.replaceAll(file, "FILE"),
  };
}

const official = { image: OFFICIAL };

/** Without line breaks, and without where the objects come from. */
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => !["", "stdin:", "FILE:"].includes(word));

const inEbs = (changes: Changes) => {
  const object = daemonSet(changes);
  const labels = { "helm.sh/chart": "aws-ebs-csi-driver-2.64.0" };
  return { ...object, metadata: { ...object.metadata, namespace: "kube-system", labels } };
};
const ebs = { ...official, container: "node-driver-registrar" };
const EBS = [
  inEbs({ name: "ebs-csi-node-windows", ...ebs, ...WINDOWS }),
  inEbs({ name: "ebs-csi-node", ...ebs, ...limits({ memory: "32Mi" }) }),
];
const session = readText("docs/doctor.md").split("### What a swap of the image changes")[1] ?? "";

test("doctor --swap prints of EBS' chart what docs/doctor.md shows", async () => {
  const { status, stdout } = await swap(["--swap"], ...EBS);
  expect(status).toBe(1);
  expect(wordsOf(stdout)).toEqual(wordsOf(fencesIn(session, "text")[0] ?? ""));
});

test.each([
  [["--swap"], "1 registrar swapped: no new problem.\n"],
  [["--swap="], "1 registrar swapped: no new problem.\n"],
  [["--swap=x/y:v1"], "1 registrar swapped to x/y:v1: no new problem.\n"],
])("%j reports where nothing changes", async (words, expected) => {
  const { status, stdout } = await swap(words, daemonSet(official));
  expect({ status, stdout }).toEqual({ status: 0, stdout: expected });
});

const NO_HTTP = { livenessProbe: { httpGet: { port: "http" } }, ...limits({ memory: "20Mi" }) };

test.each<readonly [number, string, Changes]>([
  [0, "no new problem.\n1 problem is", { ...official, args: ["--v=2"] }],
  [1, "2 problems are", { ...official, ...NO_HTTP, registry: "/x" }],
])("problems with either image are counted", async (status, expected, changes) => {
  const ended = await swap(["--swap"], daemonSet(changes));
  expect(ended.stdout).toContain(`${expected} there with either image:\n       registrar doctor -f FILE\n`);
  expect(ended.status).toBe(status);
});

test("with --image it judges what --match-image of the image policy takes, and prints that command", async () => {
  const object = daemonSet({ image: "x/my-registrar:latest", ...limits({ memory: "30Mi" }) });
  const { status, stdout } = await swap(["--swap=y/registrar:v1", "--image=x/my-registrar"], object);
  expect(stdout).toMatch(/CSI105 .*\n +has a memory limit of 30Mi/);
  expect(stdout).toMatch(
    /^1 registrar swapped to y\/registrar:v1\. \d+ problem.*\nTo swap them in a cluster:\n {7}registrar manifest --image-policy --image=y\/registrar:v1 --match-image=my-registrar$/m,
  );
  expect(status).toBe(1);
  const [next = ""] = /(?<=cluster:\n {7}registrar ).*/.exec(stdout) ?? [];
  expect((await runCommand(...next.split(" "))).stdout).toMatch(/my-registrar/);
});

const OWN = {
  image: "example.com/foo/bar:v1",
  args: ["--v=2"],
  registry: "/x",
  ...limits({ memory: "20m" }),
};
const BOTH = { ...official, registry: "/x" };
test.each<readonly [words: readonly string[], Changes, commands: number]>([
  [["--swap"], BOTH, 1],
  [["--swap=y/registrar:v1"], BOTH, 1],
  [["--swap", "--image=example.com/foo/bar"], OWN, 1],
  [["--swap=y/registrar:v1", "--image=example.com/foo/bar"], OWN, 1],
])("each command that %j prints, bash takes, and it does what is said", async (words, changes, count) => {
  await using folder = await createTempFolder();
  const file = folder.at("a\\b it's $x\u202e.json");
  writeFileSync(file, JSON.stringify(daemonSet(changes)));
  const { stdout } = await runCommand("doctor", ...words, "-f", file);
  const commands = stdout.match(/(?<=^ {7})registrar .*$/gm) ?? [];
  expect(commands).toHaveLength(count);
  for (const command of commands) {
    const args = execFileSync("bash", ["--norc", "-c", `registrar() { printf '%s\\n' "$@"; }; ${command}`], {
      encoding: "utf8",
      env: { LC_ALL: "C.UTF-8" },
    });
    const ended = await runCommand(...args.trimEnd().split("\n"));
    expect([ended.status, ended.stderr]).toEqual([args.startsWith("doctor") ? 1 : 0, ""]);
  }
});

const ART = "quay.example.com/release/art-dev";
const digest = (digit: string) => `@sha256:${digit.repeat(64)}`;
const sharing = (images: readonly string[]) =>
  daemonSet({
    image: images[0],
    pod: { containers: [images[0], images[1], images[2]].map((image, at) => ({ image, ...ONE_NAME[at] })) },
  });
const ONE_NAME = [
  {
    name: "registrar",
    args: ["--csi-address=/csi/csi.sock", TOLD],
    volumeMounts: [
      { name: "plugin", mountPath: "/csi" },
      { name: "registration", mountPath: "/registration" },
    ],
  },
  { name: "driver", args: ["--endpoint=unix:///csi/csi.sock"] },
  { name: "liveness-probe", args: ["--csi-address=/csi/csi.sock", "--probe-timeout=3s"] },
];

// As in OpenShift, where every image of a release has one name.
test.each([
  [["a", "b", "c"].map(digest), digest("a")],
  [["a", "a", "a"].map(digest), digest("a")],
  [[":a", ":b", ":c"], ""],
])(
  "of images of one name %j only the registrar is swapped, and no policy is offered",
  async (ends, given) => {
    const object = sharing(ends.map((end) => ART + end));
    const { stdout } = await swap(["--swap=y/registrar:v1", `--image=${ART}${given}`, "-o", "json"], object);
    const { target, findings } = JSON.parse(stdout);
    expect(target).toMatchObject({ swapped: 1, policy: null });
    expect(findings).toEqual([]);
  },
);

test("with a placeholder as image no policy is printed", async () => {
  const image = "x/my-registrar:v1";
  const containers = daemonSet({ image }).spec.template.spec.containers.with(1, {
    name: "driver",
    image: "{{ .image }}",
  });
  const object = daemonSet({ image, pod: { containers } });
  const { stdout } = await swap(["--swap=y/registrar:v1", `--image=${image}`, "-o", "json"], object);
  expect(JSON.parse(stdout).target).toMatchObject({ swapped: 1, policy: null });
  const unread = await swap(
    ["--swap=y/registrar:v1", `--image=${image}`, "-o", "json"],
    ...[daemonSet({ image }), { kind: "List", items: [7] }],
  );
  expect(JSON.parse(unread.stdout).target).toMatchObject({ policy: null });
});

test("with an unread file the number of swapped registrars is null", async () => {
  const objects = [daemonSet(official), { kind: "List", items: [7] }];
  const { status, stdout } = await swap(["--swap=x/y:v1", "-o", "json"], ...objects);
  expect(stdout).toMatch(/^\}\n$/m);
  expect(JSON.parse(stdout).target).toMatchObject({ swapped: null, problemsWithEither: null });
  expect(status).toBe(3);
});

test("in JSON the target has the image and how many registrars were swapped", async () => {
  const objects = ["a", "b"].map((name) => daemonSet({ name, ...official }));
  const { stdout } = await swap(["--swap=x/y:v1", "-o", "json"], ...objects);
  expect(JSON.parse(stdout)).toMatchObject({
    target: { swap: "x/y:v1", swapped: 2, policy: null },
    healthy: true,
    findings: [],
  });
});

test.each<readonly [object, code: string, RegExp, fix: RegExp]>([
  [
    daemonSet(),
    "CSI113",
    /^has nothing to swap: no container for Linux has the official .* image$/,
    /IMAGE$/,
  ],
  [daemonSet({ image: "x/y:v1" }), "CSI101", /^runs an unknown program: its image x\/y:v1 is neither/, /./],
  [
    daemonSet({ ...official, ...WINDOWS }),
    "CSI113",
    /^has nothing to swap: no container for Linux/,
    /for Linux$/,
  ],
])("with nothing to swap in %j the report says why once, also in JSON", async (object, code, text, fix) => {
  const { status, stdout, stderr } = await swap(["--swap", "-o", "json"], object);
  expect([status, stderr]).toEqual([3, ""]);
  const { healthy, target, findings } = JSON.parse(stdout);
  expect([healthy, target.swapped]).toEqual([false, 0]);
  const told = { code, text: expect.stringMatching(text), fix: expect.stringMatching(fix) };
  expect(findings).toEqual([expect.objectContaining(told)]);
  expect((await swap(["--swap"], object)).stdout).toMatch(/^0 registrars swapped\. Not everything/m);
});

test("--swap --help shows the help of the files' mode", async () => {
  expect((await runCommand("doctor", "--swap", "--help")).stdout).toMatch(/^ +--swap/m);
  expect((await runCommand("doctor", "--help")).stdout).not.toMatch(/^ +--swap/m);
});
