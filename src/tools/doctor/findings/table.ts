import { plain, printable } from "../../../logging/escape";
import { wrap } from "../../wrap";
import type { Run, Status } from "./finding";
import { grouped } from "./grouped";
import { EXIT_PROBLEM, EXIT_UNKNOWN, exitCodeOf, type Report, type ReportedFinding } from "./report";
import { counted, firstOf } from "./words";

export interface TableLook {
  /** Columns of the terminal. Only a name longer than its column goes beyond. */
  readonly width: number;
  readonly colors: boolean;
  /** Whether findings that are `ok` are listed; by default they are only counted. */
  readonly isVerbose?: boolean | undefined;
}

/** On a narrower terminal, the terminal breaks the lines. */
const MIN_TEXT_WIDTH = 30;
const GAP = "  ";

const LOOKS: Readonly<
  Record<Status, { readonly word: string; readonly many?: string; readonly sgr: string }>
> = {
  ok: { word: "ok", many: "ok", sgr: "32" },
  skipped: { word: "skipped", many: "skipped", sgr: "36" },
  unknown: { word: "unknown", many: "unknown", sgr: "36" },
  warning: { word: "WARNING", sgr: "33" },
  problem: { word: "PROBLEM", sgr: "1;31" },
};
/** The worst last, right above the prompt. */
const STATUSES: readonly Status[] = ["ok", "skipped", "unknown", "warning", "problem"];
const STATUS_WIDTH = Math.max(...STATUSES.map((status) => LOOKS[status].word.length));

interface Layout {
  readonly tables?: readonly (readonly string[])[];
  /** Whether each subject is printed once, with its findings below it, the worst subjects last. */
  readonly isBySubject?: boolean;
  /** The findings are what a swap of images adds, to this one. Null: it is not known how many there are. */
  readonly swapped?: { readonly swap: string; readonly swapped: number | null };
  /** What to do about what is not in this report. */
  readonly next?: readonly (string | Run)[];
}

/**
 * The report for people: tables, the findings of each status, the problems last, then the sum. Unless it is verbose, findings
 * that are `ok` are only counted.
 */
export function renderReport(
  report: Pick<Report, "summary" | "findings">,
  look: TableLook,
  layout: Layout = {},
): string {
  const { tables = [], isBySubject = false, swapped, next = [] } = layout;
  const isShown = (one: ReportedFinding) => look.isVerbose || one.status !== "ok";
  const shown = report.findings.filter(isShown);
  const findings = isBySubject ? bySubject(shown, look) : [findingLines(report.findings, look, isShown)];
  const sum = sumLine(report, look);
  const isHarmless = swapped !== undefined && report.findings.length === 0;
  const many = swapped?.swapped ?? null;
  const what =
    swapped &&
    `${many === null ? "It is not known how many registrars are" : counted(many, "registrar")} swapped${swapped.swap && ` to ${plain(swapped.swap)}`}`;
  const last = isHarmless ? `${what}: no new problem.` : [what, sum].filter(Boolean).join(". ");
  const width = Math.max(MIN_TEXT_WIDTH, look.width);
  const after = next.flatMap((one) =>
    typeof one === "string"
      ? wrap(plain(one), width)
      : [...wrap(plain(`${one.fix}:`), width), commandLine(one.command)],
  );
  const blocks = [...tables, ...findings, [...wrap(last, width), ...after]].filter(
    ({ length }) => length > 0,
  );
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function bySubject(shown: readonly ReportedFinding[], look: TableLook) {
  const worst = (some: typeof shown) => Math.max(...some.map(({ status }) => STATUSES.indexOf(status)));
  return [...grouped(shown, ({ subject }) => subject).values()]
    .toSorted((one, other) => worst(one) - worst(other))
    .map((some) => findingLines(some, look));
}

/** A node may have hundreds of sockets that were left behind. */
const MOST_ALIKE = 10;
const INDENT = " ".repeat(4);
/** In one line, whatever the width, so that it can be copied. */
const commandLine = (command: string) => `${INDENT}   ${printable(command)}`;

/** The findings that follow from no other, each with its fix and its followers. */
function findingLines(
  findings: readonly ReportedFinding[],
  look: TableLook,
  isShown: (finding: ReportedFinding) => boolean | undefined = () => true,
): readonly string[] {
  const followers = grouped(findings, ({ followsIndex }) => String(followsIndex));
  const block = (lead: string, words: string) =>
    hanging(INDENT + lead, words, Math.max(MIN_TEXT_WIDTH, look.width));
  const where = ({ nodes = [], status }: ReportedFinding) =>
    nodes.length === 0 || status === "ok" ? [] : [`${counted(nodes.length, "node")}: ${firstOf(nodes)}`];
  const follower = (finding: ReportedFinding) =>
    [
      `${finding.code}: ${finding.subject} ${finding.text}`,
      ...where(finding).map((nodes) => `on ${nodes}`),
    ].join("; ");
  const lines = (finding: ReportedFinding, index: number) => {
    const { status, code, subject, text, fix, command } = finding;
    const head = `${LOOKS[status].word.padEnd(STATUS_WIDTH)} ${code} `;
    const [first = "", ...rest] = hanging(head, subject, look.width);
    return [
      first.replace(LOOKS[status].word, paint(look, status, LOOKS[status].word)),
      ...rest,
      ...block("", text),
      ...where(finding).flatMap((nodes) => block("on ", nodes)),
      ...(fix === null ? [] : block("-> ", command === null ? fix : `${fix}:`)),
      ...(command === null ? [] : [commandLine(command)]),
      ...(followers.get(`${index}`) ?? []).flatMap((one) => block("causes ", follower(one))),
    ];
  };
  const keyOf = ({ code, status, text }: ReportedFinding) => JSON.stringify([code, status, text]);
  const alike = grouped(
    findings.filter((finding) => finding.follows === null && isShown(finding)),
    keyOf,
  );
  return STATUSES.flatMap((status) =>
    findings.flatMap((finding, index) => {
      const own = finding.status === status ? (alike.get(keyOf(finding)) ?? []) : [];
      const at = own.slice(0, MOST_ALIKE).indexOf(finding);
      const left = own.length - MOST_ALIKE;
      const more = `... and ${left.toLocaleString("en")} more, of which the same is true: -o json has all`;
      if (at < 0) return [];
      return [...lines(finding, index), ...(left > 0 && at === MOST_ALIKE - 1 ? block("", more) : [])];
    }),
  );
}

/** Words behind a lead, wrapped; the other lines are as far in as the words. */
function hanging(lead: string, words: string, width: number): readonly string[] {
  const margin = " ".repeat(lead.length);
  return wrap(plain(words), Math.max(1, width - lead.length)).map((line, index) =>
    ((index === 0 ? lead : margin) + line).trimEnd(),
  );
}

/** The result, and how many findings there are of each status; `ok` and `skipped` only where some are. */
function sumLine({ summary }: Pick<Report, "summary">, look: TableLook): string {
  const count = (status: Status) => counted(summary[status], status, LOOKS[status].many);
  const counts = STATUSES.toReversed()
    .filter((status) => !["ok", "skipped"].includes(status) || summary[status] > 0)
    .map(count);
  const [first = "", ...others] = counts;
  switch (exitCodeOf(summary)) {
    case EXIT_PROBLEM:
      return `${[paint(look, "problem", first), ...others].join(", ")}.`;
    case EXIT_UNKNOWN: {
      const known = counts.filter((one) => one !== count("unknown"));
      return `${paint(look, "problem", "Not everything is known")}: ${[count("unknown"), ...known].join(", ")}.`;
    }
    default:
      return `${paint(look, "ok", "No problem found")}: ${counts.join(", ")}.`;
  }
}

function paint({ colors }: TableLook, status: Status, text: string): string {
  return colors ? `\u001b[${LOOKS[status].sgr}m${text}\u001b[0m` : text;
}

/**
 * Rows of printable cells under their headings, as kubectl prints them. A width, in characters, wraps the last column; where that
 * is not enough, it has lines of its own, and so do the first columns, once for rows that share them.
 */
export function renderColumns(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): readonly string[] {
  const all = [headings, ...rows];
  const last = headings.length - 1;
  const widthOf = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length));
  const widths = headings.map((_, column) => widthOf(all.map((row) => row[column] ?? "")));
  const words = all.flatMap((row) => row[last]?.split(" ") ?? []);
  const least = Math.max(widthOf(words), Math.min(MIN_TEXT_WIDTH, widths[last] ?? 0));
  const marginOf = (above: number) =>
    widths.slice(above, last).reduce((sum, one) => sum + one + GAP.length, above * INDENT.length);
  const above = headings.findIndex((_, at) => at === last || marginOf(at) - GAP.length <= width);
  const isBeside = marginOf(above) + least <= width || above === last;
  const margin = " ".repeat(isBeside ? marginOf(above) : (above + 1) * INDENT.length);
  const keyOf = (row: readonly string[] | undefined, column: number) =>
    JSON.stringify(row?.slice(0, column + 1));
  return all.flatMap((row, at) => {
    const isNew = (column: number) => keyOf(row, column) !== keyOf(all[at - 1], column);
    const leads = row
      .slice(0, above)
      .flatMap((cell, column) => (isNew(column) ? INDENT.repeat(column) + cell : []));
    const cells = row
      .slice(above, last)
      .map((cell, column) => cell.padEnd(widths[above + column] ?? 0) + GAP);
    const head = INDENT.repeat(above) + cells.join("");
    const lines = wrap(row[last] ?? "", Math.max(MIN_TEXT_WIDTH, width - margin.length));
    const [first = "", ...more] = isBeside ? lines : ["", ...lines.filter((line) => line !== NONE)];
    return [...leads, (head + first).trimEnd(), ...more.map((line) => margin + line)];
  });
}
const NONE = "-";
