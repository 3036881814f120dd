import { grid } from "../figures";
import { median } from "../support/samples";
import type { Outcome } from "./stage";

/** One failure and its outcomes, for each contestant. */
export interface Row {
  readonly title: string;
  readonly kubelets: readonly string[];
  readonly outcomes: readonly (readonly Outcome[])[];
}

/** The figures as a Markdown table: the median, and in brackets the least and the most. */
export function table(contestants: readonly string[], rows: readonly Row[]): string {
  const head = ["what happens", "kubelet", ...contestants.flatMap((name) => [`${name}, s`, "restarts"])];
  const lines = rows.map(({ title, kubelets, outcomes }) => [
    title,
    kubelets.join(", "),
    ...outcomes.flatMap((of) => [recoveries(of), range(of.map(({ restarts }) => restarts))]),
  ]);
  return grid(head, lines);
}

function recoveries(outcomes: readonly Outcome[]): string {
  if (outcomes.length === 0) return "";
  const times = outcomes.flatMap(({ registeredAfterMs: ms }) => (ms === undefined ? [] : [ms / 1_000]));
  const never = outcomes.length - times.length;
  const watched = Math.round(
    (outcomes.find((one) => one.registeredAfterMs === undefined)?.watchedMs ?? 0) / 1_000,
  );
  if (times.length === 0) return `**not in ${watched} s**`;
  const texts = times.sort((one, other) => one - other).map((time) => time.toFixed(1));
  const [least, most] = [texts[0], texts.at(-1)];
  const spread = least === most ? "" : ` (${least} to ${most})`;
  const failed = never === 0 ? "" : `; **${never} of ${outcomes.length} not in ${watched} s**`;
  return `${median(times).toFixed(1)}${spread}${failed}`;
}

function range(counts: readonly number[]): string {
  if (counts.length === 0) return "";
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? `${least}` : `${least} to ${most}`;
}
