import { plain } from "../../logging/escape";
import { type Cell, renderColumns, wrap } from "./columns";
import type { Status } from "./finding";
import { grouped } from "./grouped";
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
  const { drivers, findings } = report;
  const table = drivers.length === 0 ? [] : [...driverTable(report, look), ""];
  return [...table, ...findingTable(findings, look), "", sumLine(report, look), ""].join("\n");
}

/** A line or more for each finding that follows from no other; `more` adds lines below its text. */
export function findingTable<Row extends ReportedFinding>(
  findings: readonly Row[],
  look: TableLook,
  more: (finding: Row) => readonly Remark[] = () => [],
): readonly string[] {
  const leading = [...findings.entries()].filter(([, { follows }]) => follows === null);
  const followers = grouped(findings, ({ followsIndex }) => String(followsIndex));
  const longest = (key: "code" | "check") =>
    findings.reduce((width, finding) => Math.max(width, finding[key].length), 0);
  const widths = { code: longest("code"), check: longest("check") };
  return ORDER.flatMap((status) =>
    leading
      .filter(([, finding]) => finding.status === status)
      .flatMap(([index, finding]) =>
        findingLines(finding, followers.get(`${index}`) ?? [], { ...look, widths }, more),
      ),
  );
}

/** Words below a finding's text, and what stands before them. */
export type Remark = readonly [lead: string, words: string];

/** The last line: what it all comes to. */
export function sumLine(
  { healthy, summary }: Pick<Report<unknown>, "healthy" | "summary">,
  look: TableLook,
): string {
  const counts = [...ORDER].reverse().map((status) => counted(summary[status], status));
  const { sgr } = healthy ? LOOKS.ok : LOOKS.problem;
  const words = healthy
    ? "No problem found"
    : summary.problem > 0
      ? "Not well"
      : "Not everything could be read";
  return `${paint(look, sgr, words)}: ${counts.join(", ")}.`;
}

function paint({ colors }: TableLook, sgr: string, text: string): string {
  return colors ? `\u001b[${sgr}m${text}\u001b[0m` : text;
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

function findingLines<Row extends ReportedFinding>(
  finding: Row,
  followers: readonly Row[],
  look: TableLook & { readonly widths: Readonly<Record<"code" | "check", number>> },
  more: (finding: Row) => readonly Remark[],
): readonly string[] {
  const statusWidth = Math.max(...Object.values(LOOKS).map(({ word }) => word.length));
  const { check: checkWidth, code: codeWidth } = look.widths;
  const { status, code, check, subject, text, fix } = finding;
  const { word, sgr } = LOOKS[status];
  const head = [paint(look, sgr, word.padEnd(statusWidth)), code.padEnd(codeWidth), check.padEnd(checkWidth)];
  const margin = " ".repeat(statusWidth + codeWidth + checkWidth + 3 * GAP.length);
  const textWidth = Math.max(MIN_TEXT_WIDTH, look.width - margin.length);
  const block = (lead: string, words: string) =>
    wrap(plain(words), textWidth - lead.length).map(
      (line, index) => margin + (index === 0 ? lead : " ".repeat(lead.length)) + line,
    );
  const [first = "", ...rest] = wrap(plain(`${subject} ${text}`), textWidth);
  return [
    head.join(GAP) + GAP + first,
    ...rest.map((line) => margin + line),
    ...more(finding).flatMap(([lead, words]) => block(lead, words)),
    ...(fix === null ? [] : block("-> ", fix)),
    ...followers.flatMap((one) => block("so ", followerText(one, more(one)))),
  ];
}

function followerText({ code, subject, text }: ReportedFinding, remarks: readonly Remark[]): string {
  return [`${code}: ${subject} ${text}`, ...remarks.map(([lead, words]) => lead + words)].join("; ");
}

function counted(count: number, status: Status): string {
  return `${count} ${(status === "problem" || status === "warning") && count !== 1 ? `${status}s` : status}`;
}
