import { FLAG, print, runWithFlags, TEXTS } from "../support/run-main";
import type { Result } from "./mutant";
import { MUTANTS } from "./mutants";
import { runPure } from "./pure";
import { PURE_GROUPS } from "./pure-files";
import { runTable } from "./table";

/** How many of them the tests must notice. About one of 100 that Stryker makes changes no behaviour. */
const FLOORS = { table: 0.9, pure: 0.95 } as const;
type Part = keyof typeof FLOORS;

const USAGE = `usage: npm run test:mutation -- [--table] [--pure] [--only TEXT]

Makes one small wrong change after the other in a copy of the project, and runs the tests that must notice it. Fails if the
tests notice too few, or if a change no longer fits the code. Takes an hour and a half.

  --table       only the changes written by hand, of files that live on sockets: ${FLOORS.table * 100} % must be noticed
  --pure        only the changes that Stryker makes, of pure files: ${FLOORS.pure * 100} % must be noticed
  --only TEXT   those changes only whose file or description has this text; may be repeated
`;

const OPTIONS = { table: FLAG, pure: FLAG, only: TEXTS };

runWithFlags(USAGE, OPTIONS, async (values) => {
  const isChosen = (file: string) => values.only?.some((text) => file.includes(text)) ?? true;
  const isAll = values.table === values.pure;
  if (values.table || isAll) {
    const chosen = MUTANTS.filter(({ file, what }) => isChosen(`${file}: ${what}`));
    if (chosen.length > 0) finish("table", await runTable(chosen));
  }
  if (values.pure || isAll) {
    const chosen = PURE_GROUPS.filter(({ files }) => files.some(isChosen));
    if (chosen.length > 0) finish("pure", await runPure(chosen));
  }
});

function finish(part: Part, { mutants, noticed }: Result): void {
  // Rounded down: 100 % are all.
  const percent = Math.floor((noticed / mutants) * 100);
  print(`${part}: ${noticed} of ${mutants} noticed, ${percent} %`);
  if (!(noticed / mutants >= FLOORS[part])) process.exitCode = 1;
}
