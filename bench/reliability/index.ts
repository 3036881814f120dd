import { newestVersion } from "../../test/kubelet/support/versions";
import type { Bench, Measurement } from "../bench";
import { PLAYS, type Play } from "./plays";
import { type Row, table } from "./report";
import { type Contestant, createStage, type Outcome } from "./stage";

/** One release that does not try again after a failed registration, and one that does. */
const VERSIONS = ["1.28.15", newestVersion];

interface Job {
  readonly play: Play;
  readonly version: string;
  readonly variant: number;
  readonly contestant: Contestant;
}

interface Result extends Job {
  readonly outcome: Outcome;
}

/** Plays failures with kubelet's real code, all contestants at the same time. Half an hour, most of it waiting. */
export const reliability: Measurement = {
  command: "npm run bench:reliability",
  kubelets: () => VERSIONS,
  run: async (bench) => {
    const { cached, official, only } = bench;
    const officials = official
      ? [false, true].map((isProbed) => ({ command: official.program, isOurs: false, isProbed }))
      : [];
    const contestants: Contestant[] = [
      { command: cached.program, isOurs: true, isProbed: false },
      ...officials,
    ];
    const plays = PLAYS.filter(({ title }) => title.includes(only));
    const results = await playAll(plays, contestants, bench);
    const rows = plays.flatMap((play) => rowsOf(play, contestants, results));
    return `${bench.atOnce} plays at a time.\n\n${table(contestants.map(nameOf), rows)}`;
  },
};

/** Plays everything, so many at a time, the longest first; the contestants of a play start side by side. */
async function playAll(
  plays: readonly Play[],
  contestants: readonly Contestant[],
  { atOnce, say }: Bench,
): Promise<readonly Result[]> {
  const longest = ({ variants }: Play) => Math.max(...variants);
  const jobs: Job[] = [...plays]
    .filter((play) => contestants.length > 1 || !play.needsOfficial)
    .sort((one, other) => longest(other) - longest(one))
    .flatMap((play) => play.variants.map((variant) => ({ play, variant })))
    .flatMap((job) => VERSIONS.map((version) => ({ ...job, version })))
    .flatMap((job) => contestants.map((contestant) => ({ ...job, contestant })));
  const results: Result[] = [];
  const total = jobs.length;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let job = jobs.shift(); job; job = jobs.shift()) {
        results.push({ ...job, outcome: await playOne(job, contestants) });
        say(`${results.length} of ${total}: ${describe(results.at(-1) as Result)}`);
      }
    }),
  );
  return results;
}

async function playOne(
  { play, version, variant, contestant }: Job,
  contestants: readonly Contestant[],
): Promise<Outcome> {
  const isRival = ({ isOurs, isProbed }: Contestant) => !isOurs && isProbed === contestant.isProbed;
  await using stage = await createStage(version, contestant, contestants.find(isRival) ?? contestant);
  return await play.run(stage, variant);
}

function nameOf({ isOurs, isProbed }: Contestant): string {
  return `${isOurs ? "registrar" : "official"}${isProbed ? " with a liveness probe" : ""}`;
}

function describe({ play, version, variant, contestant, outcome }: Result): string {
  const { registeredAfterMs: ms, restarts } = outcome;
  const after = ms === undefined ? "not registered" : `registered after ${(ms / 1_000).toFixed(2)} s`;
  return `${play.title} [${variant}], kubelet ${version}, ${nameOf(contestant)}: ${after}, ${restarts} restarts`;
}

function rowsOf(play: Play, contestants: readonly Contestant[], results: readonly Result[]): readonly Row[] {
  const groups = play.byKubelet ? VERSIONS.map((version) => [version]) : [VERSIONS];
  return groups.map((kubelets) => {
    const played = results.filter((one) => one.play === play && kubelets.includes(one.version));
    const outcomes = contestants.map((contestant) =>
      played.filter((one) => one.contestant === contestant).map(({ outcome }) => outcome),
    );
    return { title: play.title, kubelets, outcomes };
  });
}
