import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPrograms } from "../../test/kubelet/support/build";
import { newestVersion } from "../../test/kubelet/support/versions";
import { createTempFolder } from "../../test/support/temp-folder";
import { withFigures } from "../figures";
import { PLAYS, type Play } from "./plays";
import { type Row, table } from "./report";
import { type Contestant, createStage, type Outcome } from "./stage";

const USAGE = `usage: npm run bench:reliability -- [--official PATH] [--only TEXT] [--at-once N] [--dry-run]

Plays failures with kubelet's real code, with this registrar and the official one at the same time, and writes the
figures into docs/measurements.md. Takes about half an hour, most of it waiting.

  --official PATH   the official node-driver-registrar; without it only ours is measured
  --only TEXT       only the plays with this text in their title; does not write the page
  --at-once N       so many plays at a time (8)
  --dry-run         does not write the page
`;

const VERSIONS = ["1.28.15", newestVersion];
const root = join(__dirname, "..", "..");
const page = join(root, "docs", "measurements.md");
const say = (text: string) => void process.stdout.write(`${text}\n`);

interface Job {
  readonly play: Play;
  readonly version: string;
  readonly variant: number;
  readonly contestant: Contestant;
}

interface Result extends Job {
  readonly outcome: Outcome;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      official: { type: "string" },
      only: { type: "string", default: "" },
      "at-once": { type: "string", default: "8" },
      "dry-run": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE);
  const official = (isProbed: boolean, path = values.official): readonly Contestant[] =>
    path === undefined ? [] : [{ command: [path], isOurs: false, isProbed }];
  if (!values.official) say("no --official PATH: only this registrar is measured");
  for (const version of VERSIONS) await buildPrograms(version, say);

  // A copy: the run takes long, and a build in the meantime would take the program away.
  await using folder = await createTempFolder();
  cpSync(join(root, "dist"), folder.path, { recursive: true });
  const ours: Contestant = {
    command: [process.execPath, folder.at("cli.js")],
    isOurs: true,
    isProbed: false,
  };
  const plays = PLAYS.filter(({ title }) => title.includes(values.only));
  const contestants = [ours, ...official(false), ...official(true)];
  const conditions = describeConditions(values["at-once"], values.official);
  const results = await playAll(plays, contestants, Number(values["at-once"]));
  const figures = table(
    contestants.map(nameOf),
    plays.flatMap((play) => rowsOf(play, contestants, results)),
  );
  say(`${conditions()}\n\n${figures}`);
  if (values.only || values["dry-run"]) return;
  const text = [conditions(), figures].join("\n\n");
  writeFileSync(page, withFigures(readFileSync(page, "utf8"), "npm run bench:reliability", text));
}

/** Plays everything, so many at a time, the longest first; the two contestants of a play start side by side. */
async function playAll(
  plays: readonly Play[],
  contestants: readonly Contestant[],
  atOnce: number,
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
  await using stage = await createStage({
    version,
    contestant,
    official: contestants.find(isRival) ?? contestant,
  });
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

/** What the figures depend on; asked again at the end for the load. */
function describeConditions(atOnce: string, official: string | undefined): () => string {
  const loadBefore = loadavg()[0] ?? 0;
  const version =
    official && execFileSync(official, ["--version"], { encoding: "utf8" }).trim().split(" ").at(-1);
  return () =>
    [
      `Measured on ${new Date().toISOString().slice(0, 10)}: ${cpus().length} × ${cpus()[0]?.model ?? "CPU"},`,
      `${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release().split("-")[0]}, Node ${process.version},`,
      `official ${version ?? "absent"}; ${atOnce} plays at a time,`,
      `load average ${loadBefore.toFixed(1)} at the start and ${(loadavg()[0] ?? 0).toFixed(1)} at the end.`,
    ].join("\n");
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
