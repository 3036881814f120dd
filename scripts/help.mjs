// The help texts: dist/cli/help/NAME-WIDTH.txt, rendered by yargs. A help that is printed loads neither yargs nor a tool.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import * as esbuild from "esbuild";

/** Every command, and the first words of those that have a help of their own. */
const LINES = [
  ...["demo", "kubelet", "driver", "doctor", "status", "manifest", "legacy"].map((name) => [name]),
  ...[["--cluster"], ["-f", "x"]].map((mode) => ["doctor", ...mode]),
  ["manifest", "--image-policy"],
];

/** Takes the place of src/runtime/help-text.ts: the command's object is what it renders. */
const collect = {
  name: "collect-help",
  setup(build) {
    build.onResolve({ filter: /\/help-text$/ }, () => ({ path: "help-text", namespace: "collect" }));
    build.onLoad({ filter: /./, namespace: "collect" }, () => ({
      contents: "export const printHelp = (name, help) => globalThis.collectHelp(name, help);",
    }));
  },
};

const ENTRY = `
  export { commandHelp, registrarHelp } from "../scripts/help-texts.mjs";
  export { HELP_WIDTHS } from "./runtime/help-text.ts";
  export { COMMANDS } from "./cli/commands";`;

export async function writeHelp(folder) {
  const program = resolve(folder, "help.cjs");
  await esbuild.build({
    stdin: { contents: ENTRY, resolveDir: "src" },
    outfile: program,
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "cjs",
    define: { "import.meta.url": "importMetaUrl" },
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    plugins: [collect],
    logLevel: "error",
  });
  const { commandHelp, registrarHelp, HELP_WIDTHS, COMMANDS } = createRequire(import.meta.url)(program);
  rmSync(program);
  const helps = new Map();
  globalThis.collectHelp = (name, help) => helps.has(name) || helps.set(name, help);
  for (const [name, ...words] of LINES)
    await COMMANDS.find((one) => one.name === name).run([...words, "--help"]);
  mkdirSync(join(folder, "help"), { recursive: true });
  for (const width of HELP_WIDTHS) {
    const write = (name, text) => writeFileSync(join(folder, "help", `${name}-${width}.txt`), text);
    write("registrar", await registrarHelp(COMMANDS, width));
    for (const [name, help] of helps) write(name, await commandHelp(help, width));
  }
}
