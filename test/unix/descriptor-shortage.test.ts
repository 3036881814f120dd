import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { buildSync } from "esbuild";

/** What a process says that may have `limit` descriptors and has run `before`. */
function saidWith(limit: number, before: string, said = "descriptorShortage()"): string {
  const entryPoints = [join(__dirname, "..", "..", "src", "unix", "descriptors.ts")];
  const [file] = buildSync({ entryPoints, bundle: true, platform: "node", write: false }).outputFiles;
  const script = `${file?.text}; const fs = require("node:fs"); ${before}; process.stdout.write(String(${said}));`;
  const command = ["-c", `ulimit -n ${limit}; exec "$@"`, "sh", process.execPath, "-e", script];
  return execFileSync("sh", command, { encoding: "utf8" });
}

const opens = (count: number) =>
  `try { for (let n = 0; n < ${count}; n++) fs.openSync("/dev/null"); } catch {}`;
const fails = (code: string) =>
  `fs.openSync = () => { throw Object.assign(new Error("${code}"), { code: "${code}" }); }`;

test.each([
  [200, opens(0), /^undefined$/],
  [200, opens(100), /^undefined$/],
  [100, opens(75), /^EMFILE is near: (8[4-9]|9\d) of 100 file descriptors are in use$/],
  [100, opens(1_000), /^EMFILE: all file descriptors of this process are in use$/],
  [200, fails("ENFILE"), /^ENFILE: all file descriptors of this machine are in use$/],
  [200, fails("ENOMEM"), /^ENOMEM: the kernel has no memory left for a file$/],
])("with a limit of %i, after %s: %s", (limit, before, said) => {
  expect(saidWith(limit, before)).toMatch(said);
});

test("each open descriptor counts towards those that drivers need", () => {
  const [none, hundred] = [0, 100].map((count) =>
    Number(saidWith(200, opens(count), "countDescriptorNeed()(1)")),
  );
  expect(hundred).toBe(Number(none) + 100);
});
