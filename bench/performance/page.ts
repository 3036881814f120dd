import { grid } from "../figures";
import type { Finding, Table, Verdict } from "./measure";

/** A finding as Markdown. */
export function findingText({ tables, skipped = [] }: Finding): string {
  return [...tables.map(tableText), ...skipped.map((reason) => `Left out: ${reason}.`)].join("\n\n");
}

function tableText({ title, head, rows, note }: Table): string {
  const text = `### ${capitalised(title)}\n\n${grid(head, rows)}`;
  return note === undefined ? text : `${text}\n\n${note}`;
}

/** Each budget, and whether it is met, in plain words. */
export function verdictText(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ what, budget, measured, isMet, official = "" }) => [
    what,
    measured,
    budget,
    isMet ? "met" : "**missed**",
    official,
  ]);
  return grid(["", "registrar", "budget", "", "official"], rows);
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
