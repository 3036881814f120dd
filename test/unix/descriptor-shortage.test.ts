import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { descriptorShortage } from "../../src/unix/descriptors";

test("where there is room there is nothing to say", () => {
  expect(descriptorShortage()).toBeUndefined();
});

/** What a process says that may have `limit` descriptors and has opened `opened` more than Node itself. */
function saidWith(limit: number, opened: number): string {
  const source = join(__dirname, "..", "..", "src", "unix", "descriptors.ts");
  const [file] = buildSync({
    entryPoints: [source],
    bundle: true,
    platform: "node",
    write: false,
  }).outputFiles;
  const open = `const fs = require("node:fs"); try { for (let n = 0; n < ${opened}; n++) fs.openSync("/dev/null"); } catch {}`;
  const script = `${file?.text}; ${open} process.stdout.write(String(descriptorShortage()));`;
  const command = ["-c", `ulimit -n ${limit}; exec "$@"`, "sh", process.execPath, "-e", script];
  return execFileSync("sh", command, { encoding: "utf8" });
}

test.each([
  [200, 0, /^undefined$/],
  [200, 100, /^undefined$/],
  [100, 75, /^EMFILE is near: (8[4-9]|9\d) of 100 file descriptors are in use$/],
  [100, 1_000, /^EMFILE: all file descriptors are in use$/],
])("with a limit of %i, %i of them opened: %s", (limit, opened, said) => {
  expect(saidWith(limit, opened)).toMatch(said);
});
