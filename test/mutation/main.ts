import { grid, writeFigures } from "../../bench/figures";
import { FLAG, print, runWithFlags, say, TEXT, TEXTS } from "../support/run-main";
import { createMutants, draw, type Mutant } from "./mutants";
import { reachingTests, runTests } from "./tests";

const DRAWN = 300;
/** How many of them the tests must notice. Some mutants change no behaviour: a default that is not read, a text for people. */
const FLOOR = 0.85;
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
  const drawn = seeds.map((one) => draw(mutants.all, Number(most), one));
  const chosen = [...new Set(drawn.flat())].filter(({ file }) => file.includes(only));
  say(`${chosen.length} of ${mutants.all.length} mutants; now every test runs once, to see which reach them`);
  await mutants.plant(chosen);
  const reaching = await reachingTests(mutants.path);

  const noticed = new Set<Mutant>();
  for (const [index, mutant] of chosen.entries()) {
    const tests = reaching(mutant);
    const isNoticed = tests.length > 0 && (await runTests(mutants.path, tests, mutant.id));
    if (isNoticed) noticed.add(mutant);
    const outcome = isNoticed ? "noticed" : tests.length > 0 ? "SURVIVED" : "NOT REACHED";
    print(
      `${index + 1}/${chosen.length} ${outcome} ${mutant.file}:${mutant.line} ${mutant.what.slice(0, 200)}`,
    );
  }

  const rows = drawn.map((ones, index) => {
    const tried = ones.filter((one) => chosen.includes(one));
    const seen = tried.filter((one) => noticed.has(one)).length;
    return { seed: seeds[index], tried: tried.length, seen, share: seen / tried.length };
  });
  for (const row of rows)
    print(`seed ${row.seed}: ${row.seen} of ${row.tried} noticed, ${percent(row.share)}`);
  const cells = rows.map((row) => [`${row.seed}`, `${row.tried}`, `${row.seen}`, percent(row.share)]);
  const day = new Date().toISOString().slice(0, 10);
  const table = grid(["Seed", "Mutants drawn", "Noticed", "Share"], cells);
  if (write) writeFigures("npm run test:mutation", `${day}, of ${mutants.all.length} mutants.\n\n${table}`);
  return rows.every(({ share }) => share >= FLOOR) ? 0 : 1;
});

/** Rounded down: 100 % are all. */
const percent = (share: number) => `${Math.floor(share * 100)} %`;
