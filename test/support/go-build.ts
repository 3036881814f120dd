import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { say } from "./run-main";

const run = promisify(execFile);

interface GoBuild {
  readonly what: string;
  /** The program, or a folder for those of all packages; what it was built from is in a file beside it. */
  readonly file: string;
  /** @default ["build"] */
  readonly command?: readonly string[];
  readonly flags: readonly string[];
  readonly packages: string;
  readonly isSource: (name: string) => boolean;
  /** Is awaited before a build. */
  readonly prepare?: (() => Promise<void>) | undefined;
}

export function createGoBuilder(sources: string) {
  const go = async (args: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off", ...more };
    const { stdout } = await run("go", args, { cwd: sources, env, maxBuffer: 1 << 24 });
    return stdout.trim();
  };

  return {
    /** Downloads a module, such as `example.com/module@v1.2.3`: its folder. Rejects with go's own words, on one line. */
    download: async (module: string): Promise<string> => {
      // go writes the same object when it fails, and ends with 1.
      // Go refuses to unpack a module that asks for a newer Go, unless it may fetch that.
      const text = await go(["mod", "download", "-json", module], { GOTOOLCHAIN: "auto" }).catch(
        ({ stdout = "{}" }) => String(stdout),
      );
      const { Dir, Error: reason = "go said nothing" } = JSON.parse(text) as { Dir?: string; Error?: string };
      if (Dir === undefined) throw new Error(reason.replaceAll(/\s+/g, " "));
      return Dir;
    },
    /** Builds, unless the very same inputs were built before. */
    build: async (wanted: GoBuild): Promise<void> => {
      const { what, file, command = ["build"], flags, packages, isSource, prepare } = wanted;
      const args = [...command, "-trimpath", "-buildvcs=false", ...flags, "-o", file, packages];
      const version = await go(["env", "GOVERSION"]).catch((cause: Error) => {
        throw new Error(`go is needed to build ${what}: ${cause.message}`, { cause });
      });
      const files = (await readdir(sources, { recursive: true })).filter(isSource);
      const hash = createHash("sha256").update([version, sources, ...args].join("\0"));
      for (const name of files.sort()) hash.update(`\0${name}\0`).update(await readFile(join(sources, name)));
      const [stamp, inputs] = [`${file}.sha256`, hash.digest("hex")];
      if ((await readFile(stamp, "utf8").catch(() => "")) === inputs) return;
      say(`building ${what} with ${version}: minutes the first time`);
      await mkdir(dirname(stamp), { recursive: true });
      await prepare?.();
      await go(args);
      await writeFile(stamp, inputs);
    },
  };
}
