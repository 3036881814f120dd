import { type Equivalent, inOneLine } from "./equivalent";
import type { FileResult } from "./file-result";

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
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>
  >;
}

/** A mutant that no test noticed, as the lines that it changes. */
export interface Survivor {
  readonly file: string;
  readonly line: number;
  readonly from: string;
  readonly to: string;
}

export interface StrykerResults {
  readonly files: readonly FileResult[];
  readonly survivors: readonly Survivor[];
  /** Those of the equivalents that survived, as they must. */
  readonly met: readonly Equivalent[];
}

const NOTICED = ["Killed", "Timeout"];
const UNNOTICED = ["Survived", "NoCoverage"];
/** The compiler sees to it that this is not reached. */
const UNREACHABLE = /satisfies never;/;

/** What a report says, as far as mutants could be tried at all. */
export function readStrykerReport(
  { files }: StrykerReport,
  equivalents: readonly Equivalent[],
): StrykerResults {
  const survivors: Survivor[] = [];
  const met: Equivalent[] = [];
  const results = Object.entries(files).map(([file, { source, mutants }]) => {
    let equal = 0;
    let unnoticed = 0;
    for (const mutant of mutants.filter(({ status }) => UNNOTICED.includes(status))) {
      const changed = changedLines(source, mutant);
      if (UNREACHABLE.test(changed.from)) {
        equal += 1;
        continue;
      }
      const known = equivalents.find(
        (one) => one.file === file && one.from === changed.from && one.to === changed.to,
      );
      if (known === undefined) {
        unnoticed += 1;
        survivors.push({ file, line: mutant.location.start.line, ...changed });
      } else {
        equal += 1;
        met.push(known);
      }
    }
    const noticed = mutants.filter(({ status }) => NOTICED.includes(status)).length;
    return { file, mutants: noticed + unnoticed, noticed, equivalents: equal };
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
