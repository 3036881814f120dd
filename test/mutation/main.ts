import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../package/support/packed-package";
import { run } from "../package/support/run";
import { createTempFolder } from "../support/temp-folder";
import { MUTANTS, type Mutant } from "./mutants";
import { mutated } from "./mutated";

/** Of those in the table; none of them leaves everything as it was. */
const FLOOR = 0.9;

const USAGE = `usage: npm run test:mutation -- [--only TEXT]

Makes one small wrong change of the product after the other, in a copy of it, and runs the tests that are to notice. Fails
where fewer than ${FLOOR * 100} % are noticed, or where a change does not fit the code any more. Takes minutes.

  --only TEXT   those changes only whose file or effect has this text
`;

const DONE_WITHIN_MS = 10 * 60_000;
const COPIED = [
  "src",
  "test",
  "proto",
  "docs",
  "bench",
  "scripts",
  "jest.config.js",
  "package.json",
  "tsconfig.json",
];
const LINKED = ["node_modules", "dist"];

const say = (text: string) => void process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: "string", default: "" }, help: { type: "boolean", default: false } },
  });
  if (values.help) return say(USAGE);
  const chosen = MUTANTS.filter(({ file, what }) => `${file} ${what}`.includes(values.only));
  await using folder = await createTempFolder();
  const skipped = /\/(?:node_modules|built|bin)$/;
  for (const name of COPIED)
    cpSync(join(ROOT, name), folder.at(name), { recursive: true, filter: (path) => !skipped.test(path) });
  for (const name of LINKED) symlinkSync(join(ROOT, name), folder.at(name));

  const passes = async (tests: readonly string[]) => {
    const jest = [join(ROOT, "node_modules", "jest", "bin", "jest.js"), "--bail", "--forceExit", ...tests];
    const { code, stderr } = await run(process.execPath, jest, {
      cwd: folder.path,
      withinMs: DONE_WITHIN_MS,
    });
    return { passed: code === 0, stderr };
  };
  // Tests that fail without a change would notice every one.
  const untouched = await passes([...new Set(chosen.flatMap(({ tests }) => tests))]);
  if (!untouched.passed) throw new Error(`the tests fail as it is:\n${untouched.stderr.slice(-4_000)}`);

  const survivors: Mutant[] = [];
  for (const mutant of chosen) {
    const path = folder.at(mutant.file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, mutated(text, mutant));
    const { passed } = await passes(mutant.tests);
    writeFileSync(path, text);
    if (passed) survivors.push(mutant);
    say(`${passed ? "SURVIVED" : "noticed "}  ${mutant.file}: ${mutant.what}`);
  }
  const share = (chosen.length - survivors.length) / chosen.length;
  say(`${chosen.length - survivors.length} of ${chosen.length} noticed, ${Math.round(share * 100)} %`);
  if (!(share >= FLOOR)) process.exitCode = 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
