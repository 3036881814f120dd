import { escapeGo } from "../logging/escape";
import type { Status } from "./finding";
import type { Report } from "./report";

/** How the table is to look. */
export interface TableLook {
  /** Columns of the terminal. Only a single word longer than its column goes beyond. */
  readonly width: number;
  readonly colors: boolean;
}

/** Text column at its narrowest: on a terminal that is narrower still, lines are broken by the terminal. */
const MIN_TEXT_WIDTH = 30;
const GAP = "  ";

const LOOKS: Readonly<Record<Status, { readonly word: string; readonly sgr: string }>> = {
  ok: { word: "ok", sgr: "32" },
  unknown: { word: "unknown", sgr: "36" },
  warning: { word: "WARNING", sgr: "33" },
  problem: { word: "PROBLEM", sgr: "1;31" },
};

/** The report as a table for people: status, check, what was found and, below it, the cure; then the sum of it. */
export function renderTable({ findings, summary, healthy }: Report, { width, colors }: TableLook): string {
  const paint = (sgr: string, text: string) => (colors ? `\u001b[${sgr}m${text}\u001b[0m` : text);
  const statusWidth = Math.max(...Object.values(LOOKS).map(({ word }) => word.length));
  const checkWidth = Math.max(0, ...findings.map(({ check }) => check.length));
  const margin = " ".repeat(statusWidth + GAP.length + checkWidth + GAP.length);
  const textWidth = Math.max(MIN_TEXT_WIDTH, width - margin.length);

  const rows = findings.flatMap(({ status, check, subject, text, cure }) => {
    const { word, sgr } = LOOKS[status];
    const head = paint(sgr, word.padEnd(statusWidth)) + GAP + check.padEnd(checkWidth) + GAP;
    const [first = "", ...more] = wrap(plain(`${subject} ${text}`), textWidth);
    const cureLines = cure === null ? [] : wrap(plain(cure), textWidth - 3);
    return [
      head + first,
      ...more.map((line) => margin + line),
      ...cureLines.map((line, index) => `${margin}${index === 0 ? "-> " : "   "}${line}`),
    ];
  });
  const counts = (Object.keys(LOOKS) as Status[]).reverse().map((status) => counted(summary[status], status));
  const sum = healthy ? paint(LOOKS.ok.sgr, "No problem found") : paint(LOOKS.problem.sgr, "Not well");
  return [...rows, "", `${sum}: ${counts.join(", ")}.`, ""].join("\n");
}

function counted(count: number, status: Status): string {
  return `${count} ${(status === "problem" || status === "warning") && count !== 1 ? `${status}s` : status}`;
}

/** Text that steers no terminal and stays on its line; quotes, which do neither, are left as they are. */
function plain(text: string): string {
  return escapeGo(text).replaceAll('\\"', '"');
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
