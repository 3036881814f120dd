import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { cpus, loadavg, release } from "node:os";
import { grid, writeFigures } from "../../../bench/figures";
import { KUBERNETES_VERSION } from "./build";
import { imageNode } from "./images";
import type { Outcome } from "./play";

export function keepOutcome(outcome: Outcome): void {
  const { title, contestant, missingMs, registeredMs, podMs, restarts } = outcome;
  const [missing, told, pod] = [missingMs, registeredMs, podMs].map((ms) => seconds([ms]));
  keep(
    `${title}: ${contestant}: missing ${missing}, told ${told}, pod ${pod}, ${restarts} restarts`,
    outcome,
  );
}

function keep(text: string, result: object): void {
  process.stdout.write(`${text}\n`);
  const file = process.env.CLUSTER_OUTCOMES;
  if (file) appendFileSync(file, `${JSON.stringify(result)}\n`);
}

interface MountTries {
  readonly title: string;
  readonly tries: number;
  readonly failedMounts: number;
  readonly podMs: readonly number[];
}

export function keepTries(tries: MountTries): void {
  const { title, podMs } = tries;
  keep(`${title}: ${tries.failedMounts} of ${tries.tries} with FailedMount, pod ${seconds(podMs)}`, tries);
}

function readOutcomes(file: string): readonly Outcome[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  return lines.map((line) => JSON.parse(line) as Outcome);
}

function triesTable(lines: readonly object[]): string {
  const rows = lines
    .filter((line): line is MountTries => "failedMounts" in line)
    .map(({ title, tries, failedMounts, podMs }) => [title, `${tries}`, `${failedMounts}`, seconds(podMs)]);
  return grid(["", "tries", "with a FailedMount event", "apply of the driver to the running pod"], rows);
}

function outcomeTable(titles: readonly string[], outcomes: readonly Outcome[]): string {
  const rows = titles.flatMap((title) => {
    const of = (name: Outcome["contestant"]) =>
      outcomes.filter((outcome) => outcome.title === title && outcome.contestant === name);
    const [ours, official] = [of("ours"), of("official")];
    if (ours.length + official.length === 0) return [];
    const measures = [
      (some: readonly Outcome[]) => seconds(some.map(({ missingMs }) => missingMs)),
      (some: readonly Outcome[]) => seconds(some.flatMap(({ registeredMs }) => registeredMs ?? [])),
      (some: readonly Outcome[]) => seconds(some.map(({ podMs }) => podMs)),
      (some: readonly Outcome[]) => range(some.map(({ restarts }) => restarts)),
    ];
    const cells = measures.flatMap((measure) => [measure(ours), measure(official)]);
    return [[title, ...cells, String(Math.max(ours.length, official.length))]];
  });
  const measures = ["missing", "status", "pod", "restarts"];
  const head = ["", ...measures.flatMap((measure) => [`${measure}, ours`, "official"]), "plays"];
  return grid(head, rows);
}

/** The range, and the median of an odd number of plays; drivers that did not come back are counted apart. */
function seconds(times: readonly (number | undefined)[]): string {
  const back = times.filter((time) => time !== undefined).map((time) => time / 1000);
  const lost = times.length - back.length;
  if (times.length === 0) return "-";
  if (back.length === 0) return "not back";
  const text = `${range(back, 1)} s`;
  return lost > 0 ? `${text}, not back ${lost} of ${times.length} times` : text;
}

function range(values: readonly number[], digits = 0): string {
  const sorted = values.slice().sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [low = "-", median, high] = [0, middle, -1].map((index) => sorted.at(index)?.toFixed(digits));
  if (low === high || high === undefined) return low;
  // Of an even number no play is the middle one.
  return sorted.length % 2 === 0 ? `${low} to ${high}` : `${median} (${low} to ${high})`;
}

/** Writes the figures if something was kept in the file: a row for each title. */
export function writePage(outcomesFile: string, titles: readonly string[]): void {
  const outcomes = readOutcomes(outcomesFile);
  if (!outcomes.some(({ title }) => titles.includes(title))) return;
  const pods =
    "A pod with an inline volume and no toleration, created before its driver, which the node had never had:";
  const figures = [conditions(), outcomeTable(titles, outcomes), pods, triesTable(outcomes)];
  writeFigures("npm run test:cluster", figures.join("\n\n"));
}

export function conditions(kubernetes = KUBERNETES_VERSION): string {
  const day = new Date().toISOString().slice(0, 10);
  const first = (program: string, ...words: readonly string[]) =>
    execFileSync(program, words, { encoding: "utf8" }).split("\n", 1)[0] ?? "";
  const [containerd, runc] = ["containerd", "runc"].map((one) =>
    /\d+\.\d+\.\d+/.exec(first(one, "--version")),
  );
  return [
    `Played on ${day}: Kubernetes ${kubernetes}, containerd ${containerd}, runc ${runc}, Linux ${release()},`,
    `${cpus().length} processors (load ${loadavg()[1]?.toFixed(1)} at the end), Node ${first(imageNode(), "--version").slice(1)} in our image.`,
  ].join("\n");
}
