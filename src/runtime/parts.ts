import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";

type Require = (name: string) => unknown;

/** A part is the text of such a function, as of any CommonJS module. */
type Part = (exports: object, require: Require, module: { exports: object }, ...paths: string[]) => void;

/** How the build names a part in `import()`. */
const PART = /^part:(.*)/;

/**
 * Makes the `require` with which the parts of the bundled CLI, `cli/<name>.js`, load each other. V8 reads a file to its
 * end before it runs the first line, and keeps the text: with parts, a probe does not pay for a registration.
 *
 * `scripts/code-cache.mjs` puts V8's code cache beside a part in an image. V8 refuses a cache of another version, and
 * compiles the text. Node's own compile cache lacks every function that is compiled at its first call: nearly all.
 */
export function createRequireOfParts(require: Require, file: string, directory: string): Require {
  const loaded = new Map<string, object>();

  const run = (path: string): object => {
    const cache = `${path}.cache`;
    const script = new Script(readFileSync(`${path}.js`, "latin1"), {
      filename: `${path}.js`,
      ...(existsSync(cache) && { cachedData: readFileSync(cache) }),
    });
    const module = { exports: {} };
    (script.runInThisContext() as Part)(module.exports, requireOrRun, module, file, directory);
    return module.exports;
  };

  const requireOrRun = (name: string): unknown => {
    const [, part] = PART.exec(name) ?? [];
    if (part === undefined) return require(name);
    const exports = loaded.get(part) ?? run(join(directory, "cli", part));
    loaded.set(part, exports);
    return exports;
  };
  return requireOrRun;
}
