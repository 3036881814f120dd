import { EQUIVALENTS, type Equivalent, inOneLine } from "./equivalents";

interface Position {
  /** Both from 1 on. */
  readonly line: number;
  readonly column: number;
}

interface ReportedMutant {
  readonly mutatorName: string;
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

/** What a report says, as far as mutants could be tried at all; `met` are the equivalents that survived, as they must. */
export function readStrykerReport({ files }: StrykerReport) {
  const survivors: { readonly file: string; line: number; from: string; to: string }[] = [];
  const met: Equivalent[] = [];
  const results = Object.entries(files).map(([file, { source, mutants }]) => {
    let equivalents = 0;
    let unnoticed = 0;
    for (const mutant of mutants.filter(({ status }) => UNNOTICED.includes(status))) {
      const { from, to } = changedLines(source, mutant);
      const known = EQUIVALENTS.find((one) => one.file === file && one.from === from && one.to === to);
      if (known) met.push(known);
      if (known || UNREACHABLE.test(from)) {
        equivalents += 1;
      } else {
        unnoticed += 1;
        survivors.push({ file, line: mutant.location.start.line, from, to });
      }
    }
    const noticed = mutants.filter(({ status }) => NOTICED.includes(status)).length;
    return { file, mutants: noticed + unnoticed, noticed, equivalents };
  });
  return { files: results, survivors, met };
}

/** The lines that a mutant changes, before and after. */
function changedLines(source: string, { location, replacement = "" }: ReportedMutant) {
  const { start, end } = location;
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const before = lines[0]?.slice(0, start.column - 1) ?? "";
  const after = lines.at(-1)?.slice(end.column - 1) ?? "";
  return { from: inOneLine(lines.join("\n")), to: inOneLine(`${before}${replacement}${after}`) };
}
