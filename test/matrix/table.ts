/** How one check ended on one Node. */
export interface Cell {
  readonly check: string;
  readonly node: string;
  /** `text`: where all was well, in a few words. */
  readonly result: { readonly text: string } | { readonly problem: string };
}

/** A row for each check, a column for each Node; below it, what is wrong. */
export function matrixText(cells: readonly Cell[]): string {
  const nodes = [...new Set(cells.map(({ node }) => node))];
  const checks = [...new Set(cells.map(({ check }) => check))];
  const rows = [
    ["", ...nodes.map((node) => `Node ${node}`)],
    ...checks.map((check) => [
      check,
      ...nodes.map((node) => wordsOf(cells.find((cell) => cell.check === check && cell.node === node))),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const problems = cells.flatMap(({ check, node, result }) =>
    "problem" in result ? [`\nNode ${node}, ${check}:\n${result.problem}`] : [],
  );
  return [...lines, ...problems].join("\n");
}

function wordsOf(cell: Cell | undefined): string {
  if (cell === undefined) return "not tried";
  return "text" in cell.result ? cell.result.text : "FAILED";
}
