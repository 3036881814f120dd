import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

interface GoBuild {
  /** The go command's arguments, such as `build -o FILE ./...` or `test -c -o FILE ./...`. */
  readonly args: readonly string[];
  readonly key: readonly string[];
  readonly isSource: (name: string) => boolean;
  readonly stamp: string;
  readonly onStart: () => void;
}

export function createGoBuilder(sources: string) {
  const go = async (args: readonly string[]) => {
    const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
    const { stdout } = await run("go", args, { cwd: sources, env, maxBuffer: 1 << 24 });
    return stdout.trim();
  };

  const hashInputs = async ({ key, isSource }: GoBuild) => {
    const files = (await readdir(sources, { recursive: true })).filter(isSource);
    const hash = createHash("sha256").update(key.join("\0"));
    for (const name of files.sort()) hash.update(`\0${name}\0`).update(await readFile(join(sources, name)));
    return hash.digest("hex");
  };

  return {
    /** The version of the go command, such as `go1.26.8`; `needed` begins the error where there is none. */
    version: (needed: string): Promise<string> =>
      go(["env", "GOVERSION"]).catch((error: NodeJS.ErrnoException) => {
        throw error.code === "ENOENT" ? new Error(`${needed}: no go command is in PATH`) : error;
      }),
    /** Downloads a module, such as `example.com/module@v1.2.3`: its folder. Rejects with go's own words, on one line. */
    download: async (module: string): Promise<string> => {
      // go writes the same object when it fails, and ends with 1.
      const text = await go(["mod", "download", "-json", module]).catch(({ stdout = "{}" }) =>
        String(stdout),
      );
      const { Dir, Error: reason = "go said nothing" } = JSON.parse(text) as { Dir?: string; Error?: string };
      if (Dir === undefined) throw new Error(reason.replaceAll(/\s+/g, " "));
      return Dir;
    },
    build: async (build: GoBuild): Promise<void> => {
      const inputs = await hashInputs(build);
      if ((await readFile(build.stamp, "utf8").catch(() => "")) === inputs) return;
      build.onStart();
      await mkdir(dirname(build.stamp), { recursive: true });
      await go(build.args);
      await writeFile(build.stamp, inputs);
    },
  };
}
