import { plain } from "../../logging/escape";
import { renderColumns, wrap } from "./columns";
import type { Status } from "./finding";
import { grouped } from "./grouped";
import type { Report, ReportedFinding } from "./report";

export interface TableLook {
  /** Columns of the terminal. Only a single word longer than its column goes beyond. */
  readonly width: number;
  readonly colors: boolean;
}

/** Words below a finding's text, and what stands before them. */
export type Remark = readonly [lead: string, words: string];

/** On a narrower terminal, the terminal breaks the lines. */
const MIN_TEXT_WIDTH = 30;
const GAP = "  ";

const LOOKS: Readonly<Record<Status, { readonly word: string; readonly sgr: string }>> = {
  ok: { word: "ok", sgr: "32" },
  unknown: { word: "unknown", sgr: "36" },
  warning: { word: "WARNING", sgr: "33" },
  problem: { word: "PROBLEM", sgr: "1;31" },
};
/** The worst last, right above the prompt. */
export const STATUSES: readonly Status[] = ["ok", "unknown", "warning", "problem"];
const STATUS_WIDTH = Math.max(...STATUSES.map((status) => LOOKS[status].word.length));

/** The report for people: the drivers, the findings of each status, the problems last, then the sum. */
export function renderTable(report: Report, look: TableLook): string {
  const { drivers, findings } = report;
  const table = drivers.length === 0 ? [] : [...driverTable(report, look), ""];
  return [...table, ...findingTable(findings, look), "", sumLine(report, look), ""].join("\n");
}

/** The findings that follow from no other, each with its fix and its followers; `more` adds lines below a text. */
export function findingTable<Row extends ReportedFinding>(
  findings: readonly Row[],
  look: TableLook,
  {
    more = () => [],
    widthsOf = findings,
  }: {
    readonly more?: (finding: Row) => readonly Remark[];
    /** The findings that share the columns. */
    readonly widthsOf?: readonly Row[];
  } = {},
): readonly string[] {
  const followers = grouped(findings, ({ followsIndex }) => String(followsIndex));
  const longest = (key: "code" | "check") =>
    widthsOf.reduce((width, finding) => Math.max(width, finding[key].length), 0);
  const [codeWidth, checkWidth] = [longest("code"), longest("check")];
  const margin = " ".repeat(STATUS_WIDTH + codeWidth + checkWidth + 3 * GAP.length);
  const textWidth = Math.max(MIN_TEXT_WIDTH, look.width - margin.length);

  const block = (lead: string, words: string) =>
    wrap(plain(words), textWidth - lead.length).map(
      (line, index) => margin + (index === 0 ? lead : " ".repeat(lead.length)) + line,
    );
  const follower = (finding: Row) => {
    const remarks = more(finding).map(([lead, words]) => lead + words);
    return [`${finding.code}: ${finding.subject} ${finding.text}`, ...remarks].join("; ");
  };
  const lines = (finding: Row, index: number) => {
    const { status, code, check, subject, text, fix } = finding;
    const { word, sgr } = LOOKS[status];
    const head = [
      paint(look, sgr, word.padEnd(STATUS_WIDTH)),
      code.padEnd(codeWidth),
      check.padEnd(checkWidth),
    ];
    const [first = "", ...rest] = wrap(plain(`${subject} ${text}`.trimStart()), textWidth);
    return [
      head.join(GAP) + GAP + first,
      ...rest.map((line) => margin + line),
      ...more(finding).flatMap(([lead, words]) => block(lead, words)),
      ...(fix === null ? [] : block("-> ", fix)),
      ...(followers.get(`${index}`) ?? []).flatMap((one) => block("so ", follower(one))),
    ];
  };
  return STATUSES.flatMap((status) =>
    findings.flatMap((finding, index) =>
      finding.status === status && finding.follows === null ? lines(finding, index) : [],
    ),
  );
}

/** The last line: the result, and how many findings there are of each status; `ok` only where some are. */
export function sumLine({ healthy, summary }: Pick<Report, "healthy" | "summary">, look: TableLook): string {
  const counts = [...STATUSES]
    .reverse()
    .filter((status) => status !== "ok" || summary.ok > 0)
    .map((status) => counted(summary[status], status));
  const { sgr } = healthy ? LOOKS.ok : LOOKS.problem;
  const unhealthy = summary.problem > 0 ? "Not well" : "Not everything could be read";
  return `${paint(look, sgr, healthy ? "No problem found" : unhealthy)}: ${counts.join(", ")}.`;
}

function paint({ colors }: TableLook, sgr: string, text: string): string {
  return colors ? `\u001b[${sgr}m${text}\u001b[0m` : text;
}

function driverTable({ drivers }: Report, look: TableLook): readonly string[] {
  const rows = drivers.map(({ name, state, since, reason, csiSocket }) => [
    plain(name ?? "(no name)"),
    state,
    since ?? "-",
    plain([reason, csiSocket].filter(Boolean).join("; ")),
  ]);
  return renderColumns(["DRIVER", "STATE", "SINCE", "WHY, WHERE"], rows, look.width);
}

function counted(count: number, status: Status): string {
  return `${count} ${(status === "problem" || status === "warning") && count !== 1 ? `${status}s` : status}`;
}
