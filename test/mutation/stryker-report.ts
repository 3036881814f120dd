interface Position {
  /** Both from 1 on. */
  readonly line: number;
  readonly column: number;
}

interface ReportedMutant {
  readonly replacement?: string;
  readonly location: { readonly start: Position; readonly end: Position };
  readonly status: string;
}

/** The part of Stryker's JSON report (mutation-testing-elements, report schema 2) that is read here. */
export interface StrykerReport {
  readonly files: Readonly<Record<string, { source: string; mutants: readonly ReportedMutant[] }>>;
}

const NOTICED = ["Killed", "Timeout"];
const UNNOTICED = ["Survived", "NoCoverage"];
/** The compiler sees to it that this is not reached. */
const UNREACHABLE = /satisfies never;/;

export function readStrykerReport({ files }: StrykerReport) {
  return Object.entries(files).map(([file, { source, mutants }]) => ({
    file,
    noticed: mutants.filter(({ status }) => NOTICED.includes(status)).length,
    survivors: mutants
      .filter(({ status }) => UNNOTICED.includes(status))
      .map((mutant) => ({ line: mutant.location.start.line, ...changedLines(source, mutant) }))
      .filter(({ from }) => !UNREACHABLE.test(from)),
  }));
}

function changedLines(source: string, { location, replacement = "" }: ReportedMutant) {
  const { start, end } = location;
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const before = lines[0]?.slice(0, start.column - 1) ?? "";
  const after = lines.at(-1)?.slice(end.column - 1) ?? "";
  const inOneLine = (text: string) => text.replace(/\s+/g, " ").trim();
  return { from: inOneLine(lines.join("\n")), to: inOneLine(`${before}${replacement}${after}`) };
}
