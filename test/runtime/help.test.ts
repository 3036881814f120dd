import { COMMANDS } from "../../src/cli/commands";
import type { CommandFlags } from "../../src/flags/command-flags";
import { flagTable } from "../../src/flags/table";
import type { CommandLine } from "../../src/tools/command-line";
import { readText } from "../docs/markdown";
import { runCommand } from "../support/run-command";

test("--help shows every flag in its group, with text and default, on about one and a half screens", async () => {
  const { status, stdout, stderr } = await runCommand("--help");
  expect([status, stderr]).toEqual([0, ""]);
  const lines = stdout.trimEnd().split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(110);
  expect(lines.length).toBeLessThanOrEqual(65);
  const groups = stdout.split(/^(?=\S.*:$)/m);
  for (const [heading, rows] of [
    ["Flags of the official", flagTable.dropIn],
    ["Our own", flagTable.ours],
    ["Deprecated", flagTable.deprecated],
  ] as const) {
    const group = groups.find((text) => text.startsWith(heading));
    for (const [name, { describe }] of Object.entries(rows))
      expect(group?.replace(/ +/g, " ")).toContain(`-${name} ${describe}`);
  }
  expect(stdout).toBe(readText("dist/cli/help/registrar-110.txt"));
  const narrow = readText("dist/cli/help/registrar-80.txt").split("\n");
  expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(80);
  for (const name of Object.keys(flagTable.removed)) expect(stdout).toContain(name);
  expect(stdout).toMatch(/--timeout .*\[default: 1s\]/);
  expect(stdout).not.toMatch(/default: (0|0s|false|"")?\]/);
  expect(stdout).toMatch(/registrar demo +watch registrations/);
});

type Help = Pick<CommandLine<CommandFlags>, "describe" | "flags" | "examples" | "notes">;

/** What the build renders, a line for each flag. */
const linesOf = (flags: object) =>
  Object.entries(flags).map(([name, row]) => `--${name} ${JSON.stringify(row)}`);

test.each([
  ...[
    "demo",
    "kubelet",
    "driver",
    "doctor",
    "doctor --cluster",
    "doctor -f x",
    "status",
    "manifest",
    "legacy",
  ],
  "manifest --image-policy",
])("the help of %s has the texts of the snapshot", async (line) => {
  let help: Help | undefined;
  jest.doMock("../../src/runtime/help-text", () => ({
    printHelp: (_name: string, given: Help) => {
      help = given;
      return 0;
    },
  }));
  const [name, ...words] = line.split(" ");
  expect(await COMMANDS.find((one) => one.name === name)?.run([...words, "--help"])).toBe(0);
  const { describe = "", flags = {}, examples = [], notes = [] } = help ?? {};
  expect(["", describe, ...linesOf(flags), ...examples, ...notes, ""].join("\n")).toMatchSnapshot();
  jest.resetModules();
});

test("the registrar's flags have the texts, defaults and kinds of the snapshot", () => {
  const groups = Object.entries(flagTable).flatMap(([group, rows]) => [group, ...linesOf(rows)]);
  expect(["", ...groups, ""].join("\n")).toMatchSnapshot();
});
