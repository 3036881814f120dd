import { escapeGo } from "../logging/escape";
import { type Cell, renderColumns, wrap } from "./columns";
import type { Status } from "./finding";
import type { Report, ReportedFinding } from "./report";

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
/** The worst last: that is what stands above the prompt. */
const ORDER: readonly Status[] = ["ok", "unknown", "warning", "problem"];

/**
 * The report for people: the drivers, what was found of each status, and last the problems, each with what to do and
 * what follows from it; then the sum of it.
 */
export function renderTable(report: Report<unknown>, look: TableLook): string {
  const { drivers, findings, summary, healthy } = report;
  const paint = (sgr: string, text: string) => (look.colors ? `\u001b[${sgr}m${text}\u001b[0m` : text);
  const table = drivers.length === 0 ? [] : [...driverTable(report, look), ""];
  const leading = findings.filter(({ follows }) => follows === null);
  const rows = ORDER.flatMap((status) =>
    leading
      .filter((finding) => finding.status === status)
      .flatMap((finding) => findingLines(finding, findings, look, paint)),
  );
  const counts = [...ORDER].reverse().map((status) => counted(summary[status], status));
  const sum = healthy ? paint(LOOKS.ok.sgr, "No problem found") : paint(LOOKS.problem.sgr, "Not well");
  return [...table, ...rows, "", `${sum}: ${counts.join(", ")}.`, ""].join("\n");
}

function driverTable({ drivers }: Report<unknown>, look: TableLook): readonly string[] {
  const rows = drivers.map(({ name, state, since, reason, csiSocket }): readonly Cell[] => [
    plain(name ?? "(no name)"),
    state,
    since ?? "-",
    plain([reason, csiSocket].filter(Boolean).join("; ")),
  ]);
  return renderColumns(["DRIVER", "STATE", "SINCE", "WHY, WHERE"], rows, look.width);
}

function findingLines(
  finding: ReportedFinding,
  all: readonly ReportedFinding[],
  { width }: TableLook,
  paint: (sgr: string, text: string) => string,
): readonly string[] {
  const statusWidth = Math.max(...Object.values(LOOKS).map(({ word }) => word.length));
  const checkWidth = Math.max(...all.map(({ check }) => check.length));
  const codeWidth = Math.max(...all.map(({ code }) => code.length));
  const { status, code, check, subject, text, fix } = finding;
  const { word, sgr } = LOOKS[status];
  const head = [paint(sgr, word.padEnd(statusWidth)), code.padEnd(codeWidth), check.padEnd(checkWidth)];
  const margin = " ".repeat(statusWidth + codeWidth + checkWidth + 3 * GAP.length);
  const textWidth = Math.max(MIN_TEXT_WIDTH, width - margin.length);
  const block = (lead: string, words: string) =>
    wrap(plain(words), textWidth - lead.length).map(
      (line, index) => margin + (index === 0 ? lead : " ".repeat(lead.length)) + line,
    );
  const [first = "", ...more] = wrap(plain(`${subject} ${text}`), textWidth);
  const followers =
    finding.status === "ok" ? [] : all.filter((one) => one.follows === code && isWith(one, finding));
  return [
    head.join(GAP) + GAP + first,
    ...more.map((line) => margin + line),
    ...(fix === null ? [] : block("-> ", fix)),
    ...followers.flatMap((one) => block("so ", `${one.code}: ${one.subject} ${one.text}`)),
  ];
}

/** Followers stand under the first finding of the code that they follow. */
function isWith(follower: ReportedFinding, finding: ReportedFinding): boolean {
  return follower.follows === finding.code && finding.follows === null;
}

function counted(count: number, status: Status): string {
  return `${count} ${(status === "problem" || status === "warning") && count !== 1 ? `${status}s` : status}`;
}

/** Text that steers no terminal and stays on its line; quotes, which do neither, are left as they are. */
function plain(text: string): string {
  return escapeGo(text).replaceAll('\\"', '"');
}
