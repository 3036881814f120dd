import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PARTS } from "../../src/manifest/options";
import { spawnProcess } from "../support/child-process";
import { createNodeFolder } from "../support/node-folder";
import { registrarCommand } from "../support/registrar-command";
import { runCommand } from "../support/run-command";
import { parseLogLine } from "./support/log-line";
import { nodeTest, onNode, registered } from "./support/node";
import { allRegistered, driverFoldersOf, nameOf, socketOf, socketsIn } from "./support/node-wide";
import { outsideContainer } from "./support/surroundings";

/** Naming the directory stands for a container, which has one at /registration. */
const inContainer = "--plugin-registration-path=/nowhere";
const complete = [inContainer, "--kubelet-registration-path=/nowhere/csi.sock"];
const probe = "--mode=kubelet-registration-probe";
const twoPorts = ["--health-port=1", "--http-endpoint=:2"];

const requiredPath = '"kubelet-registration-path is a required parameter"';
const onePort = '"Only one of `--health-port` and `--http-endpoint` can be set"';
const logging = (why: string) => `"LoggingConfiguration is invalid" err="${why}"`;
const noFormat = logging('format: Invalid value: \\"xml\\": Unsupported log format');
const noFlush = logging('flushFrequency: Invalid value: \\"0s\\": Must be greater than zero');
const noVmodule = logging("vmodule: Forbidden: Only supported for text log format");

/** The first error line of each, header left out, and the exit code are those of the official v2.17.0. */
test.each<readonly [first: string | undefined, code: number, args: readonly string[]]>([
  ["flag provided but not defined: -nope", 2, ["-nope"]],
  ['invalid value "-1" for flag -v: strconv.ParseUint: parsing "-1": invalid syntax', 2, ["-v=-1"]],
  ["flag provided but not defined: -nope", 2, ["--version", "--nope"]],
  [noFormat, 1, ["--logging-format=xml"]],
  [noFormat, 1, ["--logging-format=xml", "--version"]],
  [noFlush, 1, ["--log-flush-frequency=0", probe, ...complete]],
  [noVmodule, 1, ["--vmodule=a=5", "--logging-format=json"]],
  [requiredPath, 1, [inContainer]],
  [requiredPath, 1, [inContainer, probe]],
  [requiredPath, 1, [inContainer, ...twoPorts]],
  [requiredPath, 1, [inContainer, "word", "--version"]],
  [requiredPath, 1, [inContainer, "--", "--version"]],
  [onePort, 1, [...complete, ...twoPorts]],
  [onePort, 1, [...complete, ...twoPorts, "--csi-address="]],
  [undefined, 0, [...complete, probe]],
  [undefined, 0, [...complete, probe, ...twoPorts, "--csi-address="]],
  [undefined, 0, [inContainer, "--version"]],
])("%s, exit code %i: %j", async (first, code, args) => {
  const { status, stderr } = await runCommand(...args);
  expect(status).toBe(code);
  const [line] = stderr.split("\n").filter((text) => text !== "" && !text.startsWith("I"));
  expect(line?.replace(/^E[^\]]*\] /, "")).toBe(first);
});

test.each([
  ["--version", 0, /^\S+ v\d+\.\d+\.\d+\n$/, /^$/],
  ["-help=false", 0, /^Usage: /m, /^$/],
  ["--nope", 2, /^$/, /^flag provided but not defined: -nope\nsee \S+ --help\n$/],
])("%s ends with exit code %d, and says it where it belongs", async (flag, code, said, complaint) => {
  const { status, stdout, stderr } = await runCommand(flag);
  expect(status).toBe(code);
  expect(stdout).toMatch(said);
  expect(stderr).toMatch(complaint);
});

test("the lines before the error are the official's", async () => {
  const { stderr } = await runCommand(...complete, ...twoPorts);
  const lines = stderr.trimEnd().split("\n").map(parseLogLine);
  expect(lines.map((line) => `${line?.severity} ${line?.message}`)).toEqual([
    "I Version",
    "I Running node-driver-registrar",
    "E Only one of `--health-port` and `--http-endpoint` can be set",
  ]);
});

nodeTest("on a machine that is neither container nor node the error names both directories", async (node) => {
  const root = node.at("kubelet");
  const registrar = node.cli(["--csi-address=nonsense"], { KUBELET_ROOT_DIR: root }, outsideContainer());
  expect((await registrar.exit()).code).toBe(1);
  expect(registrar.lines().at(-1)?.message).toBe(
    `neither /registration (in a container) nor ${root}/plugins_registry (on a node) is a directory: name ` +
      "kubelet's plugin registration directory with --plugin-registration-path, or its root with " +
      "KUBELET_ROOT_DIR, or simulate a kubelet with: registrar kubelet --plugin-registration-path DIR",
  );
});

test.each([
  ["--csi-address=dns:///host", /csi-address is "dns:\/\/\/host"; it takes the driver's unix socket/],
  ["--timeout=0", /timeout must be more than 0: no call could ever succeed/],
  ["--driver-timeout=-1s", /driver-timeout must not be negative/],
  ["--driver-timeout=600h", /driver-timeout must be 24 days at most; 0 is no limit/],
  ["--http-endpoint=nonsense", /http-endpoint "nonsense" is not a listen address/],
  ["--metrics-path=nope", /metrics-path "nope" is not a path of a URL: it must begin with \//],
])("%s ends with exit code 1 and leaves the reason in the termination log", async (flag, reason) => {
  await using folder = await createNodeFolder();
  writeFileSync(folder.at("log"), "");
  const { status, stderr } = await runCommand(
    `--csi-address=${folder.csiAddress}`,
    `--kubelet-registration-path=${folder.csiAddress}`,
    `--plugin-registration-path=${folder.pluginDir}`,
    "--http-endpoint=localhost:0",
    flag,
    `--termination-log=${folder.at("log")}`,
  );
  expect(status).toBe(1);
  expect(parseLogLine(stderr.trimEnd().split("\n").at(-1) ?? "")?.fields.err).toMatch(reason);
  expect(readFileSync(folder.at("log"), "utf8")).toMatch(reason);
  expect(folder.files()).toEqual([]);
});

nodeTest("on a node, KUBELET_ROOT_DIR says where kubelet's directory is", async (node) => {
  const root = dirname(node.pluginDir);
  const pluginDir = join(root, "plugins_registry");
  await node.driver();
  const kubelet = await node.kubelet({ pluginRegistrationPath: pluginDir });
  const registrar = node.cli(
    [`--csi-address=${node.csiAddress}`],
    { KUBELET_ROOT_DIR: root },
    outsideContainer(),
  );
  expect(await registered(kubelet)).toMatchObject({ endpoint: node.csiAddress });
  expect((await registrar.line("Not in a container, assuming the paths of this node")).fields).toEqual({
    flag: "--plugin-registration-path",
    value: pluginDir,
  });
});

/** Flags for a pattern below a node's folder, which kubelet is to know by the same path unless told otherwise. */
const pair = (csiAddress: string, hostPath = csiAddress) => [
  `--csi-address=${csiAddress}`,
  `--kubelet-registration-path=${hostPath}`,
];

describe("only the drivers that are wanted", () => {
  test.each([
    [`--allow-drivers=${nameOf(1)},${nameOf(3)}`, [1, 3]],
    [`--deny-drivers= ${nameOf(1)}, ${nameOf(3)},`, [0, 2]],
    [`--allow-drivers=${nameOf(0)}=PLUGINS/*/csi.sock,${nameOf(1)}=PLUGINS/other/csi.sock`, [0]],
  ])(
    "with %s",
    onNode(async (node, flag, expected) => {
      const { add, registrar: start, csiAddress } = driverFoldersOf(node);
      const kubelet = await node.kubelet();
      const registrar = start(flag.replaceAll("PLUGINS", dirname(dirname(csiAddress("*")))));
      for (const number of [0, 1, 2, 3]) await add(nameOf(number));
      await allRegistered(kubelet, expected.map(nameOf));
      await registrar.line("CSI driver is excluded by the name lists", { nth: 2 });
      expect(socketsIn(node)).toEqual(expected.map(nameOf).map(socketOf));
    }),
  );
});

describe("what cannot be meant ends it with 1, and a line that says why", () => {
  test.each([
    [pair("/p/x*y*/s"), "a segment can have one '*' only"],
    [pair("/p/*/s", "/h/a/s"), "each '*' must stand for the same in both"],
    [[...pair("/p/*/s", "/h/*/s"), "--csi-address=/q/*/s"], "each needs its own"],
    [pair("/p/*/s", "unix:///h/*/s"), "a pattern must be an absolute path"],
    [[...pair("/p/*/s"), "--driver-gone-after=-1s"], "driver-gone-after must not be negative"],
    [[...pair("/p/*/s"), "--driver-gone-after=1000h"], "driver-gone-after must be 24 days at most"],
    [[...pair("/p/*/s"), "--remove-startup-taint=a"], "several drivers: write {driver}, "],
    [[...pair("/p/*/s"), "--node-condition=a"], "would be the same for several drivers"],
  ])("%j", async (flags, why) => {
    const { status, stderr } = await runCommand("--plugin-registration-path=/nowhere", ...flags);
    expect(stderr).toContain(why);
    expect(status).toBe(1);
  });
});

const POLICY = ["--image-policy", "--image=r:1", "--arg=--v=2"];

// GitOps tools deploy what differs, so the same words must write the same text at any time and place.
test.each([
  [`--include=${PARTS.join()}`, "--namespace=n", "--driver-name=x.csi", "--image=r:1", "--driver-image=d:1"],
  ["--node-wide", "--image=r:1", "--include=daemonset,podmonitor", "--node-condition=a/{driver}"],
  [...POLICY, "--policy-engine=kyverno", "--namespace=b", "--namespace=a"],
  [...POLICY.slice(0, 2), "--drop", "--include=policy"],
])("manifest %s writes the same in every time zone and language", async (...words) => {
  const written = await Promise.all(
    [
      { TZ: "Pacific/Kiritimati", LC_ALL: "tr_TR.UTF-8" },
      { TZ: "America/Los_Angeles", LC_ALL: "C" },
    ].map(async (env) => {
      const [program, ...before] = registrarCommand();
      const child = spawnProcess(program, [...before, "manifest", ...words], { env });
      expect(await child.exited).toMatchObject({ code: 0 });
      return child.stdout.all().join("\n");
    }),
  );
  expect(written[0]).toMatch(/^kind: /m);
  expect(written[1]).toBe(written[0]);
  expect(written[0]).not.toMatch(/\b20\d\d-\d\d/); // Both ran on one day.
  // Flux replaces such words where it is told to.
  expect(written[0]).not.toContain("${");
});
