import { execFileSync } from "node:child_process";
import type fs from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";

const { outputFiles } = buildSync({
  entryPoints: [join(__dirname, "..", "..", "src", "unix", "descriptors.ts")],
  ...{ bundle: true, platform: "node", write: false },
});

/** Descriptors that this process has from its parent. */
const closeInherited = "for (let fd = 40; fd < 300; fd++) try { fs.closeSync(fd); } catch {}";
/** Opens all descriptors below this one, and it. */
const openTo = (last: number) => `while (fs.openSync("/dev/null") < ${last});`;
const openAll = "try { for (;;) fs.openSync('/dev/null'); } catch {}";
const fail = (call: keyof typeof fs, code: string) =>
  `fs.${call} = () => { throw Object.assign(new Error("${code}"), { code: "${code}" }); }`;

test.each<[before: string, of: string, said: string]>([
  ["", "descriptorShortage()", "undefined"],
  [openTo(82), "descriptorShortage()", "undefined"],
  [openTo(83), "descriptorShortage()", "EMFILE is near: 84 of 100 file descriptors are in use"],
  [openAll, "descriptorShortage()", "EMFILE: all file descriptors of this process are in use"],
  [
    fail("openSync", "ENFILE"),
    "descriptorShortage()",
    "ENFILE: all file descriptors of this machine are in use",
  ],
  [fail("openSync", "ENOMEM"), "descriptorShortage()", "ENOMEM: the kernel has no memory left for a file"],
  [openAll, "descriptorLimit()", "0"],
  [openTo(50), "descriptorLimit()", "100"],
  [fail("readFileSync", "ENOENT"), "descriptorLimit()", "Infinity"],
  ["fs.readFileSync = () => 'Max open files unlimited'", "descriptorLimit()", "Infinity"],
  [openTo(50), "countDescriptors()", "51"],
  [fail("readdirSync", "ENOENT"), "countDescriptors()", "0"],
  [openTo(50), "[1, 2].map(countDescriptorNeed())", "86,89"],
])("with 100 descriptors, after %s, %s is %s", (before, of, said) => {
  // It writes at the end: `process.stdout` opens a descriptor.
  const script = `${outputFiles[0]?.text}; const fs = require("node:fs"); ${closeInherited} ${before}; const said = String(${of}); process.stdout.write(said);`;
  const command = ["-c", 'ulimit -n 100; exec "$@"', "sh", process.execPath, "-e", script];
  expect(execFileSync("sh", command, { encoding: "utf8" })).toBe(said);
});
