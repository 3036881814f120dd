import { existsSync, readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname } from "node:path";
import { constants, Script } from "node:vm";

/** The code of a part of the packed CLI, as `packParts` of build.mjs put it there; undefined where there is none. */
export function unpackPart(packed: string, name: string): string | undefined {
  const opening = `\n/* part ${name}\n`;
  const start = packed.indexOf(opening);
  if (start === -1) return undefined;
  const from = start + opening.length;
  return packed.slice(from, packed.indexOf("*/", from)).replaceAll("*\x01/", "*/");
}

/**
 * Runs a part of the packed CLI and answers its exports. V8 reads a file to its end before it runs the first line,
 * and for all of the CLI that takes half as long as Node itself takes to start; a comment it skips. So the main part,
 * which decides and answers probes, does not pay for the others.
 *
 * Beside the file may lie V8's code cache of a part (`code-cache.mjs` makes it, for an image whose Node is known).
 * One that another version of V8 made is refused by V8, and the text is compiled.
 */
export function runPart(file: string, name: string): unknown {
  const code = unpackPart(readFileSync(file, "latin1"), name);
  if (code === undefined) throw new Error(`${file} has no part ${name}: it was not built by npm run build`);
  const cache = `${file}.${name}.cache`;
  const script = new Script(Module.wrap(code), {
    filename: `${file}#${name}`,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(existsSync(cache) && { cachedData: readFileSync(cache) }),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}
