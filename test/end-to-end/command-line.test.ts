import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createNodeFolder } from "../support/node-folder";
import { runCommand } from "../support/run-command";
import { parseLogLine } from "./support/log-line";
import { nodeTest, onNode, registered, registrarArguments } from "./support/node";
import { allRegistered, driverFoldersOf, nameOf, socketOf, socketsIn } from "./support/node-wide";
import { outsideContainer, registrarIn } from "./support/surroundings";

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
  [noFormat, 1, ["--logging-format=xml", "--version"]],
  [noFlush, 1, ["--log-flush-frequency=0", probe, ...complete]],
  [noVmodule, 1, ["--vmodule=a=5", "--logging-format=json"]],
  [requiredPath, 1, [inContainer, probe]],
  [requiredPath, 1, [probe]],
  [requiredPath, 1, [inContainer, ...twoPorts]],
  [requiredPath, 1, [inContainer, "word", "--version"]],
  [onePort, 1, [...complete, ...twoPorts, "--csi-address="]],
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
  ["--nope", 2, /^$/, /^flag provided but not defined: -nope\nsee registrar --help\n$/],
])("%s ends with exit code %d, and writes to the right stream", async (flag, status, stdout, stderr) => {
  const [said, complaint] = [expect.stringMatching(stdout), expect.stringMatching(stderr)];
  expect(await runCommand(flag)).toEqual({ status, stdout: said, stderr: complaint });
});

test("the log before the error has the official registrar's lines", async () => {
  const { stderr } = await runCommand(...complete, ...twoPorts);
  const lines = stderr.trimEnd().split("\n").map(parseLogLine);
  expect(lines.map((line) => `${line?.severity} ${line?.message}`)).toEqual([
    "I Version",
    "I Running node-driver-registrar",
    "E Only one of `--health-port` and `--http-endpoint` can be set",
  ]);
});

test.each([
  ["--csi-address=dns:///host", /csi-address "dns:\/\/\/host" is not a unix socket path: give/],
  ["--driver-timeout=600h", /driver-timeout is 2160000s; it takes a duration, 0s to 24 days/],
  ["--metrics-path=nope", /metrics-path "nope" is not a path of a URL: it must begin with \//],
])(
  "%s ends with exit code 1 and leaves the reason in the termination log, which it makes",
  async (flag, reason) => {
    await using folder = await createNodeFolder();
    const flags = [...registrarArguments(folder), "--http-endpoint=localhost:0", flag];
    const { status, stderr } = await runCommand(...flags, `--termination-log=${folder.at("log")}`);
    expect(status).toBe(1);
    expect(parseLogLine(stderr.trimEnd().split("\n").at(-1) ?? "")?.fields.err).toMatch(reason);
    expect(readFileSync(folder.at("log"), "utf8")).toMatch(reason);
    expect(folder.files()).toEqual([]);
  },
);

nodeTest("on a node, KUBELET_ROOT_DIR says where kubelet's directory is", async (node) => {
  const root = dirname(node.pluginDir);
  const pluginDir = join(root, "plugins_registry");
  await node.driver();
  const kubelet = await node.kubelet({ pluginRegistrationPath: pluginDir });
  const env = { KUBELET_ROOT_DIR: root };
  const registrar = node.cli([`--csi-address=${node.csiAddress}`], env, outsideContainer());
  expect(await registered(kubelet)).toMatchObject({ endpoint: node.csiAddress });
  expect((await registrar.line("Not in a container, assuming the paths of this node")).fields).toEqual({
    flag: "--plugin-registration-path",
    value: pluginDir,
  });
});

test.each([
  [`--deny-drivers= ${nameOf(1)}, ${nameOf(3)},`, [0, 2]],
  [`--allow-drivers=${nameOf(0)}=PLUGINS/*/csi.sock,${nameOf(1)}=PLUGINS/other/csi.sock`, [0]],
])(
  "with %s only the allowed drivers are registered",
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

test.each([
  ["--kubelet-registration-path=/h/a/s", "each '*' must stand for the same in both"],
  ["--kubelet-registration-path=/h/*/s --csi-address=/q/*/s", "each needs its own"],
  [
    "--kubelet-registration-path=/p/*/s --driver-gone-after=1000h",
    "driver-gone-after is 3600000s; it takes a duration, 0s to 24 days",
  ],
  ["--kubelet-registration-path=/p/*/s --remove-startup-taint=a", "several drivers: write {driver}, "],
])("%j, which cannot work, ends with exit code 1 and the reason", async (flags, why) => {
  const { status, stderr } = await runCommand(inContainer, "--csi-address=/p/*/s", ...flags.split(" "));
  expect(stderr).toContain(why);
  expect(status).toBe(1);
});

test.each([
  ["csi.sock", "nowhere"],
  ["*.sock", "nowhere"],
  ["csi.sock", "file"],
])(
  "a missing plugin registration directory is a warning at the start, before a driver answers: %s, %s",
  onNode(async (node, pattern, name) => {
    const directory = node.at(name);
    writeFileSync(node.at("file"), "");
    const args = registrarArguments(
      { ...node, pluginDir: directory },
      node.csiAddress.replace("csi.sock", pattern),
    );
    const registrar = node.cli(args);
    const { severity, fields } = await registrar.line("There is no plugin registration directory");
    const check =
      "is kubelet's plugins_registry mounted here, and does --plugin-registration-path name that mount?";
    expect([severity, fields]).toEqual(["W", { pluginRegistrationPath: directory, check }]);
  }),
);

nodeTest("too little memory, and too few file descriptors, are warnings at the start", async (node) => {
  const early = node.at("early.cjs");
  writeFileSync(early, "process.constrainedMemory = () => 20 * 2 ** 20;\n");
  const registrar = registrarIn(node, { script: `ulimit -n 40; export NODE_OPTIONS=--require=${early}` });
  const memory = await registrar.line("Memory limit is too small: a start after a reboot may never end");
  expect([memory.severity, memory.fields]).toMatchObject(["W", { limit: "20Mi", set: "64Mi" }]);
  const files = "Too few file descriptors: kubelet, probes and scrapers may get no connection";
  const { severity, fields } = await registrar.line(files);
  const check = expect.stringMatching(/^give the registrar at least [5-9]\d file descriptors: ulimit -n/);
  expect([severity, fields]).toEqual(["W", { limit: "40", check }]);
});
