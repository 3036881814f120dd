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
