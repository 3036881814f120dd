import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { flagTable } from "../../src/flags/table";

// yargs is an ES module, which jest cannot load: the help is tried as it ships, bundled and in a process of its own.
const folder = mkdtempSync(join(tmpdir(), "registrar-help-"));
const bundle = join(folder, "help.js");

beforeAll(() =>
  build({
    entryPoints: ["src/cli/help.ts"],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "cjs",
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    define: { "import.meta.url": "importMetaUrl" },
  }),
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function helpOf(programName: string, width: number, commands: readonly object[] = []): string {
  const call = `registrarHelp(...${JSON.stringify([programName, commands, width])}).then((text) => console.log(text))`;
  const script = `require(${JSON.stringify(bundle)}).${call}`;
  return execFileSync(process.execPath, ["-e", script, "--", "--help", "--nonsense", "demo"], {
    encoding: "utf8",
    env: { LC_ALL: "de_DE.UTF-8" },
  });
}

test("every flag stands in its group, with its text", () => {
  const help = helpOf("registrar", 200);
  const groups = help.split(/^(?=\S.*:$)/m);
  for (const [heading, rows] of [
    ["official", flagTable.dropIn],
    ["own", flagTable.ours],
    ["Deprecated", flagTable.deprecated],
  ] as const) {
    const group = groups.find((text) => text.split("\n")[0]?.includes(heading));
    for (const [name, { describe }] of Object.entries(rows)) {
      expect(group).toContain(`${name.length === 1 ? " -" : " --"}${name} `);
      expect(group).toContain(describe);
    }
  }
  for (const name of Object.keys(flagTable.removed)) expect(help).toContain(name);
});

test("it shows defaults, how to call it, exit codes, and the commands that it was given", () => {
  const help = helpOf("registrar", 200, [{ name: "demo", summary: "tells the whole story" }]);
  expect(help).toMatch(/--timeout .*\[default: 1s\]/);
  expect(help).toMatch(/--version .*\[boolean\]/);
  expect(help).not.toMatch(/default: (0|0s|false|"")?\]/);
  expect(help).toContain("Usage: registrar [flags]");
  expect(help).toMatch(/registrar demo +tells the whole story/);
  expect(help).toContain("registrar --csi-address=/csi/csi.sock");
  expect(help).toContain("Exit codes: 0 ");
});

test.each([80, 100])("it keeps to %d columns, and to about one and a half screens", (width) => {
  const lines = helpOf("csi-node-driver-registrar", width).trimEnd().split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  expect(lines.length).toBeLessThanOrEqual(width === 100 ? 60 : 78);
});
