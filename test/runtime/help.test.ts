import { flagTable } from "../../src/flags/table";
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
