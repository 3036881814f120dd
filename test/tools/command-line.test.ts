import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { systemError } from "../../src/base/errors";
import { COMMANDS, correctCommand } from "../../src/cli/commands";
import { createCommand, toolError } from "../../src/tools/command-line";
import { ROOT } from "../docs/markdown";
import { runCommand } from "../support/run-command";
import { createTempFolder } from "../support/temp-folder";

test.each(["demo", "kubelet", "driver", "doctor", "status", "manifest", "manifest --image-policy", "legacy"])(
  "registrar %s --help is one screen, with an example and the exit codes",
  async (name) => {
    const { status, stdout, stderr } = await runCommand(...name.split(" "), "--help");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`Usage: registrar ${name} [flags]`);
    // Each can be copied, though it takes two lines.
    const [, examples = ""] = /^Examples:\n(.*?)\n\n/ms.exec(stdout) ?? [];
    for (const line of examples.replace(/ \\\n */g, " ").split("\n"))
      expect(line).toMatch(new RegExp(`^ *registrar ${name}(?: -|$)`));
    expect(stdout).toMatch(/Exit codes: 0 .*; 1 .*; 2 bad flag/);
    const all = stdout.split("\n");
    expect(all.length).toBeLessThan(50);
    expect(Math.max(...all.map((line) => line.length))).toBeLessThanOrEqual(110);
  },
);

const HELP = join(ROOT, "dist", "cli", "help");

test.each(readdirSync(HELP))("%s fits its width, and no mark is glued to a description", (name) => {
  const text = readFileSync(join(HELP, name), "utf8");
  const [, width = ""] = /-(\d+)\.txt$/.exec(name) ?? [];
  expect(text.split("\n").filter((line) => line.length > Number(width))).toEqual([]);
  expect(text).not.toMatch(/\S\[(?:required|default|boolean)/);
});

test("the help of the registrar ends with the commands: on 40 rows its beginning scrolls away", () => {
  const text = readFileSync(join(HELP, "registrar-80.txt"), "utf8");
  const rows = text.split("\n");
  expect(rows.length).toBeLessThan(80);
  const shown = rows.slice(-40).join("\n");
  expect(COMMANDS.filter(({ name }) => !shown.includes(`registrar ${name} `))).toEqual([]);
});

test.each([
  ["EMFILE", "EMFILE: all file descriptors of this process are in use; see ulimit -n"],
  ["ENFILE", "ENFILE: all file descriptors of this machine are in use"],
  ["ENOMEM", "ENOMEM: the kernel has no memory left for a file"],
  ["ESTALE", "a fault of this program, please report it: open '/x.js'"],
])("an %s that nothing expects, as when a part of the program is loaded", async (code, said) => {
  const told = jest.spyOn(process.stderr, "write").mockReturnValue(true);
  const error = systemError(code, "open '/x.js'");
  expect(toolError(error)).toMatchObject({ code: "INTERNAL", message: said, cause: error });
  const line = { name: "x", describe: "", flags: {}, examples: [], notes: [], failureExitCode: 3 };
  const run = createCommand(line, () => Promise.reject(error))([]);
  if (code === "ESTALE") return await expect(run).rejects.toBe(error);
  expect(await run).toBe(3);
  expect(told).toHaveBeenCalledWith(`registrar x: ${said}\n`);
});

test.each(["-h", "-help"])("%s is --help", async (word) => {
  expect(await runCommand("demo", word)).toEqual(await runCommand("demo", "--help"));
});

const ALL = "the commands are demo, kubelet, driver, doctor, status, manifest, legacy";
test.each([
  ["dmeo", "did you mean demo?"],
  ["DOCTOR", "did you mean doctor?"],
  ["word", ALL],
  ["constructor", ALL],
  ["foo1", ALL],
  ["/csi/csi.sock", ALL],
  ["true", ALL],
  ["", ALL],
])("the first word %j starts no registrar: it ends with 2, and says what was meant", async (word, advice) => {
  const stderr = `registrar: there is no command "${word}"; ${advice}; see registrar --help\n`;
  expect(await runCommand(word, "--csi-address=/x")).toEqual({ status: 2, stdout: "", stderr });
});

test.each([undefined, "-dmeo", "--demo", "-"])("the first word %s is left to Go's grammar", (word) =>
  expect(correctCommand(word)).toBeUndefined(),
);

test.each([
  { words: ["manifest", "--node-wide", "--image=r:1"], status: 0 },
  { words: ["dmeo"], status: 2 },
])("$words prints the same in a process of its own, and exits with $status", async ({ words, status }) => {
  const alone = spawnSync(process.execPath, ["dist/cli.js", ...words], { encoding: "utf8" });
  expect(await runCommand(...words)).toEqual({ status, stdout: alone.stdout, stderr: alone.stderr });
  expect(alone.status).toBe(status);
});

// With 1, doctor and status say that a driver is not well.
test.each([
  ["manifest --node-wide --image=r:1", 1],
  ["doctor", 3],
  ["doctor -f examples -o json", 3],
  ["status --plugin-registration-path=/dev -o json", 3],
])("%s reports that stdout cannot be written, and exits with %d", (words, expected) => {
  const line = `exec ${process.execPath} dist/cli.js ${words} > /dev/full`;
  const { status, stderr } = spawnSync("sh", ["-c", line], { encoding: "utf8" });
  expect(stderr).toMatch(/^registrar: cannot write to stdout: ENOSPC/m);
  expect(status).toBe(expected);
});

test("in a working directory that was removed, relative paths begin at /", () => {
  const cli = resolve("dist/cli.js");
  const line = `d=$(mktemp -d); cd $d; rmdir $d; exec ${process.execPath} ${cli} doctor -f dev/null`;
  expect(spawnSync("sh", ["-c", line], { encoding: "utf8" }).stderr.split("\n")).toEqual([
    "registrar: the working directory was removed: relative paths begin at / instead",
    expect.stringContaining("cannot read dev/null: it has no object"),
    "",
  ]);
});

test("any other first word ends the flags, as the official registrar has it", async () => {
  const { status, stderr } = await runCommand("--plugin-registration-path=/nowhere", "word", "--nope");
  expect(stderr).toMatch(
    /^E.*"kubelet-registration-path is a required parameter"\nW.*"Words after the flags are ignored, .*" words="word --nope"\n$/m,
  );
  expect(status).toBe(1);
});

test("kubectl registrar without a command names one, and registers nothing", async () => {
  await using folder = await createTempFolder();
  const plugin = folder.at("kubectl-registrar");
  symlinkSync(resolve("dist/cli.js"), plugin);
  const { status, stderr } = spawnSync(process.execPath, [plugin, "--v=2"], { encoding: "utf8" });
  expect([status, stderr]).toEqual([
    2,
    "kubectl registrar: name a command, such as doctor --cluster; only a container registers a driver\n",
  ]);
});
