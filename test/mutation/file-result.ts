import { grid } from "../../bench/figures";

/** What became of the mutants of one file. */
export interface FileResult {
  readonly file: string;
  /** Those that change something: without the equivalents. */
  readonly mutants: number;
  /** Those of them that a test noticed. */
  readonly noticed: number;
  /** Mutants that change nothing that anybody could see. */
  readonly equivalents: number;
}

/** The share of the mutants that were noticed, 0 to 1; NaN where there were none. */
export function shareOf(results: readonly FileResult[]): number {
  const { mutants, noticed } = sumOf(results);
  return noticed / mutants;
}

/** In whole percent, rounded down: 100 % are all. */
export const percent = (share: number) => `${Math.floor(share * 100)} %`;

export function sumOf(results: readonly FileResult[]): FileResult {
  const sum = (count: (one: FileResult) => number) => results.reduce((total, one) => total + count(one), 0);
  return {
    file: "all",
    mutants: sum(({ mutants }) => mutants),
    noticed: sum(({ noticed }) => noticed),
    equivalents: sum(({ equivalents }) => equivalents),
  };
}

/** The results as a Markdown table, the sum last. */
export function resultTable(results: readonly FileResult[]): string {
  const inOrder = [...results].sort((one, other) => (one.file < other.file ? -1 : 1));
  const rows = [...inOrder, sumOf(results)].map(({ file, mutants, noticed, equivalents }) => [
    file.startsWith("src/") ? `\`${file}\`` : `**${file}**`,
    `${noticed} of ${mutants}`,
    `${equivalents}`,
  ]);
  return grid(["file", "noticed", "equivalent"], rows);
}

/** The results in a table that `resultTable` made, the sum apart. */
export function parseResultTable(text: string): readonly FileResult[] {
  const rows = text.matchAll(/^\| `(.+)` \| (\d+) of (\d+) \| (\d+) \|$/gm);
  return Array.from(rows, ([, file = "", noticed, mutants, equivalents]) => ({
    file,
    mutants: Number(mutants),
    noticed: Number(noticed),
    equivalents: Number(equivalents),
  }));
}

/** Results in place of former ones of the same files, beside those of other files. */
export function replaceResults(
  former: readonly FileResult[],
  results: readonly FileResult[],
): readonly FileResult[] {
  const files = results.map(({ file }) => file);
  return [...former.filter(({ file }) => !files.includes(file)), ...results];
}
