import { existsSync, readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { constants, Script } from "node:vm";

/**
 * Runs a part of the bundled CLI and answers its exports: the file `cli/<name>.js` beside `main`, in whose place it
 * runs. V8 reads a file to its end before it runs the first line, and for all of the CLI that takes half as long as
 * Node itself takes to start; and it keeps the text. So the main file, which decides and answers probes, does not pay
 * for the others, and a sidecar not for the commands.
 *
 * Beside a part may lie V8's code cache of it (`code-cache.mjs` makes it, for an image whose Node is known). One that
 * another version of V8 made is refused by V8, and the text is compiled.
 */
export function runPart(main: string, name: string): unknown {
  const part = join(dirname(main), "cli", name);
  const cache = `${part}.cache`;
  const script = new Script(Module.wrap(readFileSync(`${part}.js`, "latin1")), {
    filename: `${part}.js`,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(existsSync(cache) && { cachedData: readFileSync(cache) }),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(main), module, main, dirname(main));
  return module.exports;
}
