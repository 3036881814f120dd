import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { grid, writeFigures } from "../../bench/figures";
import { ROOT } from "../docs/markdown";
import { FLAG, print, runWithFlags, say, TEXT, TEXTS } from "../support/run-main";
import { createMutants, draw, type Mutant } from "./mutants";
import { createJudge, nearAndFar, prepareRuns, reachingTests, type Test } from "./tests";

/** How many are drawn, and what share the tests must notice. Some mutants change no behaviour: a default that is not read, a text for people. */
const PARTS = {
  core: { drawn: 300, floor: 0.85 },
  tools: { drawn: 150, floor: 0.7 },
} as const;
type Part = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS) as Part[];
const partOf = ({ file }: Mutant): Part => (file.startsWith("src/tools/") ? "tools" : "core");
/** So many that few tests notice are on at once. */
const TOGETHER = 8;
/** Many tests wait most of the time. */
const AT_ONCE = 3 * availableParallelism();
const WEEK_MS = 7 * 24 * 3_600_000;

const USAGE = `usage: npm run test:mutation -- [--part PART]... [--seed N]... [--mutants N] [--only TEXT] [--write]

Draws from all small wrong changes that Stryker makes in src, and runs, for each, the tests of npm test that reach it.
Fails if they notice too few: ${PART_NAMES.map((part) => `less than ${PARTS[part].floor * 100} % of ${part}`).join(", or ")}.

  --part PART   core, what is outside of src/tools, or tools; default: each with its own draw
  --seed N      what is drawn follows from it; default: the number of this week; may be repeated
  --mutants N   how many are drawn for each seed; default: ${PART_NAMES.map((part) => `${PARTS[part].drawn} of ${part}`).join(", ")}
  --only TEXT   of those, only the ones in files whose path has this text
  --write       write the scores to bench/NOTES.md, beside those of other seeds
`;

const OPTIONS = { part: TEXTS, seed: TEXTS, mutants: TEXT, only: TEXT, write: FLAG };

runWithFlags(USAGE, OPTIONS, async ({ part: parts = PART_NAMES, seed, mutants: most, only = "", write }) => {
  const seeds = seed?.map(Number) ?? [Math.floor(Date.now() / WEEK_MS)];
  const measured = {
    day: new Date().toISOString().slice(0, 10),
    commit: execFileSync("git", ["log", "-1", "--format=%h", "--", "src"], {
      cwd: ROOT,
      encoding: "utf8",
    }).trim(),
  };
  await using mutants = await createMutants();
  const drawn = PART_NAMES.filter((part) => parts.includes(part)).flatMap((part) => {
    const all = mutants.all.filter((mutant) => partOf(mutant) === part);
    return seeds.map((one) => {
      const ones = draw(all, Number(most ?? PARTS[part].drawn), one);
      return { part, of: all.length, seed: one, ones: ones.filter(({ file }) => file.includes(only)) };
    });
  });
  const chosen = [...new Set(drawn.flatMap(({ ones }) => ones))];
  say(`${chosen.length} of ${mutants.all.length} mutants; now every test runs once, to see which reach them`);
  await mutants.plant(chosen);
  const reaching = await reachingTests(mutants.path);
  using _prepared = prepareRuns(mutants.path);
  const outcomes = new Map<Mutant, string>();
  const settle = (mutant: Mutant, outcome: string, by = "") => {
    outcomes.set(mutant, outcome);
    const text = `${outcome} ${mutant.file}:${mutant.line} ${mutant.what.slice(0, 200)}`;
    print(`${outcomes.size}/${chosen.length} ${text}${by && ` [${by}]`}`);
  };
  const scores: Score[] = [];
  for (const { ones, ...of } of drawn) {
    const left = ones.filter((mutant) => !outcomes.has(mutant));
    const patient = new Map<Mutant, readonly Test[]>();
    await inTurn(left, mutants.path, async (mutant, { noticedBy }) => {
      const [near, far] = nearAndFar(reaching(mutant));
      const test = await noticedBy(near, mutant.id);
      if (test !== undefined) settle(mutant, "noticed", test);
      else if (far.length > 0) patient.set(mutant, far);
      else settle(mutant, near.length > 0 ? "SURVIVED" : "NOT REACHED");
    });
    const groups = Array.from({ length: Math.ceil(patient.size / TOGETHER) }, (_, at) =>
      [...patient].slice(at * TOGETHER, (at + 1) * TOGETHER),
    );
    await inTurn(groups, mutants.path, async (group, { eachNoticed }) => {
      await eachNoticed(new Map(group), (mutant, test) => settle(mutant, "noticed", test));
      for (const [mutant] of group) if (!outcomes.has(mutant)) settle(mutant, "SURVIVED");
    });
    const noticed = ones.filter((mutant) => outcomes.get(mutant) === "noticed").length;
    const score = { ...of, ...measured, drawn: ones.length, noticed };
    scores.push(score);
    print(
      `${of.part}, seed ${of.seed}: ${noticed} of ${ones.length} noticed, ${percent(noticed / ones.length)}`,
    );
    if (write) writeScore(score);
  }
  return scores.every(({ part, drawn, noticed }) => noticed >= PARTS[part].floor * drawn) ? 0 : 1;
});

/** Does one piece of work after another, so many at once, each with a process of its own that runs tests of the copy. */
async function inTurn<Piece>(
  pieces: readonly Piece[],
  copy: string,
  work: (piece: Piece, judge: ReturnType<typeof createJudge>) => Promise<void>,
) {
  const left = pieces.values();
  const workOn = async () => {
    using judge = createJudge(copy);
    for (const piece of left) await work(piece, judge);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, pieces.length) }, workOn));
}

interface Score {
  readonly part: Part;
  readonly seed: number;
  readonly day: string;
  /** The newest commit that changed the sources. */
  readonly commit: string;
  /** How many mutants the part has. */
  readonly of: number;
  readonly drawn: number;
  readonly noticed: number;
}

/** The scores of earlier runs, too: a seed takes hours, so that each may be drawn on another day. */
const SCORES = join(ROOT, "bench/mutation-scores.json");

/** Keeps what other runs wrote of other seeds, and makes the table of the part. */
function writeScore(score: Score) {
  const isAnother = ({ part, seed }: Score) => part !== score.part || seed !== score.seed;
  const former: readonly Score[] = JSON.parse(readFileSync(SCORES, "utf8"));
  const all = [...former.filter(isAnother), score];
  writeFileSync(SCORES, `${JSON.stringify(all, null, 2)}\n`);
  const own = all.filter(({ part }) => part === score.part);
  // The oldest first: `npm run stale-figures` asks how old a table is.
  const rows = own.toSorted((one, other) => one.day.localeCompare(other.day) || one.seed - other.seed);
  const cells = rows.map(({ seed, day, commit, of, drawn, noticed }) => [
    ...[`${seed}`, day, commit, `${of}`, `${drawn}`, `${noticed}`, percent(noticed / drawn)],
  ]);
  const head = ["Seed", "Day", "Commit", "Mutants", "Drawn", "Noticed", "Share"];
  writeFigures(`npm run test:mutation -- --part ${score.part}`, grid(head, cells));
}

/** Rounded down: 100 % are all. */
const percent = (share: number) => `${Math.floor(share * 100)} %`;
