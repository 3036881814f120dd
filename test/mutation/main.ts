import { availableParallelism } from "node:os";
import { grid, writeFigures } from "../../bench/figures";
import { FLAG, print, runWithFlags, say, TEXT, TEXTS } from "../support/run-main";
import { createMutants, draw, type Mutant } from "./mutants";
import { createJudge, prepareRuns, reachingTests } from "./tests";

const DRAWN = 300;
/** How many of them the tests must notice. Some mutants change no behaviour: a default that is not read, a text for people. */
const FLOOR = 0.85;
/** Many tests wait most of the time. */
const AT_ONCE = 2 * availableParallelism();
const WEEK_MS = 7 * 24 * 3_600_000;

const USAGE = `usage: npm run test:mutation -- [--seed N]... [--mutants N] [--only TEXT] [--write]

Draws from all small wrong changes that Stryker makes in src without tools/, and runs, for each, the tests of npm test that reach it.
Fails if they notice less than ${FLOOR * 100} %.

  --seed N      what is drawn follows from it; default: the number of this week; may be repeated
  --mutants N   how many are drawn for each seed; default ${DRAWN}
  --only TEXT   of those, only the ones in files whose path has this text
  --write       write the scores to bench/NOTES.md
`;

const OPTIONS = { seed: TEXTS, mutants: TEXT, only: TEXT, write: FLAG };

runWithFlags(USAGE, OPTIONS, async ({ seed, mutants: most = `${DRAWN}`, only = "", write }) => {
  const seeds = seed?.map(Number) ?? [Math.floor(Date.now() / WEEK_MS)];
  await using mutants = await createMutants();
  const drawn = seeds.map((one) => ({ seed: one, ones: draw(mutants.all, Number(most), one) }));
  const chosen = [...new Set(drawn.flatMap(({ ones }) => ones))].filter(({ file }) => file.includes(only));
  say(`${chosen.length} of ${mutants.all.length} mutants; now every test runs once, to see which reach them`);
  await mutants.plant(chosen);
  const reaching = await reachingTests(mutants.path);
  using _prepared = prepareRuns(mutants.path);
  const noticedBy = createJudge(mutants.path);

  const outcomes = new Map<Mutant, string>();
  const judge = async (mutant: Mutant) => {
    const tests = reaching(mutant);
    const test = await noticedBy(tests, mutant.id);
    const outcome = test !== undefined ? "noticed" : tests.length > 0 ? "SURVIVED" : "NOT REACHED";
    outcomes.set(mutant, outcome);
    const by = test === undefined ? "" : ` [${test}]`;
    const text = `${outcome} ${mutant.file}:${mutant.line} ${mutant.what.slice(0, 200)}`;
    print(`${outcomes.size}/${chosen.length} ${text}${by}`);
  };
  const rows: Row[] = [];
  for (const { seed: one, ones } of drawn) {
    const tried = ones.filter((mutant) => chosen.includes(mutant));
    const left = tried.filter((mutant) => !outcomes.has(mutant)).values();
    const work = async () => {
      for (const mutant of left) await judge(mutant);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const noticed = tried.filter((mutant) => outcomes.get(mutant) === "noticed").length;
    rows.push({ seed: one, tried: tried.length, noticed, share: noticed / tried.length });
    print(`seed ${one}: ${noticed} of ${tried.length} noticed, ${percent(noticed / tried.length)}`);
    if (write) writeTable(rows, mutants.all.length);
  }
  return rows.every(({ share }) => share >= FLOOR) ? 0 : 1;
});

interface Row {
  readonly seed: number;
  readonly tried: number;
  readonly noticed: number;
  readonly share: number;
}

function writeTable(rows: readonly Row[], all: number) {
  const cells = rows.map(({ seed, tried, noticed, share }) => [
    ...[`${seed}`, `${tried}`, `${noticed}`, percent(share)],
  ]);
  const day = new Date().toISOString().slice(0, 10);
  const table = grid(["Seed", "Mutants drawn", "Noticed", "Share"], cells);
  writeFigures("npm run test:mutation", `${day}, of ${all} mutants.\n\n${table}`);
}

/** Rounded down: 100 % are all. */
const percent = (share: number) => `${Math.floor(share * 100)} %`;
