import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";

type Require = (name: string) => unknown;

/** A part is the text of such a function: what Node makes of any CommonJS module. */
type Part = (exports: object, require: Require, module: { exports: object }, ...paths: string[]) => void;

/** The names by which the build has `import()` lead to a part. */
const PART = /^part:(.*)$/;

/**
 * Makes the `require` of the bundled CLI, by which its parts load each other: the files `cli/<name>.js` beside the first
 * one. V8 reads a file to its end before it runs the first line, and keeps the text: so a probe does not pay for a
 * registration, nor a sidecar for the commands.
 *
 * Beside a part may lie V8's code cache of it (`scripts/code-cache.mjs` makes it, for an image whose Node is known). One
 * that another version of V8 made is refused by V8, and the text is compiled. Node's own compile cache is no substitute:
 * it leaves out each function that is compiled when it is first called, which is nearly all of them.
 */
export function createRequireOfParts(require: Require, file: string, folder: string): Require {
  const loaded = new Map<string, object>();

  const run = (path: string): object => {
    const cache = `${path}.cache`;
    const script = new Script(readFileSync(`${path}.js`, "latin1"), {
      filename: `${path}.js`,
      ...(existsSync(cache) && { cachedData: readFileSync(cache) }),
    });
    const module = { exports: {} };
    (script.runInThisContext() as Part)(module.exports, requireOrRun, module, file, folder);
    return module.exports;
  };

  const requireOrRun = (name: string): unknown => {
    const [, part] = PART.exec(name) ?? [];
    if (part === undefined) return require(name);
    const exports = loaded.get(part) ?? run(join(folder, "cli", part));
    loaded.set(part, exports);
    return exports;
  };
  return requireOrRun;
}
