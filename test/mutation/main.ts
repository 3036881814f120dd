import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { figuresIn, withFigures } from "../../bench/figures";
import { EQUIVALENTS } from "./equivalents";
import {
  type FileResult,
  parseResultTable,
  percent,
  replaceResults,
  resultTable,
  shareOf,
  sumOf,
} from "./file-result";
import { MUTANTS } from "./mutants";
import { runPure } from "./pure";
import { PURE_GROUPS } from "./pure-files";
import { runTable } from "./table";

/** Of those that change something. */
const FLOORS = { table: 0.9, pure: 0.95 } as const;
type Part = keyof typeof FLOORS;

const USAGE = `usage: npm run test:mutation -- [--table] [--pure] [--only TEXT] [--write]

Makes one small wrong change of the product after the other, in a copy of it, and runs the tests that are to notice. Fails
where too few are noticed, or where a change does not fit the code any more. Takes an hour and a half.

  --table       only the changes written by hand, of files that live on sockets: ${FLOORS.table * 100} % must be noticed
  --pure        only the changes that Stryker makes, of pure files: ${FLOORS.pure * 100} % must be noticed
  --only TEXT   those changes only whose file has this text; may be repeated
  --write       writes the figures into test/mutation/README.md; with --only, those of these files
`;

const PAGE = join(__dirname, "README.md");
const say = (text: string) => void process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      table: { type: "boolean", default: false },
      pure: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      write: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE);
  const isChosen = (file: string) =>
    values.only.length === 0 || values.only.some((text) => file.includes(text));
  const isAll = values.table === values.pure;
  if (values.table || isAll) {
    const chosen = MUTANTS.filter(({ file }) => isChosen(file));
    if (chosen.length > 0) finish("table", await runTable(chosen, say), values);
  }
  if (values.pure || isAll) {
    const chosen = PURE_GROUPS.filter(({ files }) => files.some(isChosen));
    if (chosen.length > 0) finish("pure", await runPure(chosen, EQUIVALENTS, say), values);
  }
}

function finish(
  part: Part,
  results: readonly FileResult[],
  { write, only }: { readonly write: boolean; readonly only: readonly string[] },
): void {
  const { noticed, mutants, equivalents } = sumOf(results);
  const share = shareOf(results);
  say(`${part}: ${noticed} of ${mutants} noticed, ${percent(share)}; beside them ${equivalents} equivalents`);
  if (!(share >= FLOORS[part])) process.exitCode = 1;
  if (!write) return;
  const page = readFileSync(PAGE, "utf8");
  const command = `npm run test:mutation -- --${part}`;
  const former = only.length === 0 ? [] : parseResultTable(figuresIn(page, command));
  writeFileSync(PAGE, withFigures(page, command, resultTable(replaceResults(former, results))));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
