import { grid } from "../../bench/figures";
import type { Outcome } from "./registration";

/** How one registration ended. */
export interface Cell {
  readonly kubelet: string;
  readonly driver: string;
  readonly node: string;
  readonly outcome: Outcome | "failed";
  /** Where it failed: what was not as it must be. */
  readonly problem?: string;
}

/**
 * The part of docs/measurements.md that a run writes. `summary` says when, where and with which registrar it was played,
 * `parties` what each party is made of.
 */
export function interopText(
  cells: readonly Cell[],
  summary: string,
  parties: readonly (readonly [name: string, madeOf: string])[],
): string {
  const counts = (["registered", "refused", "failed"] as const).map(
    (outcome) => `${cells.filter((cell) => cell.outcome === outcome).length} ${outcome}`,
  );
  const nodes = [...new Set(cells.map(({ node }) => node))];
  const problems = cells.flatMap(({ kubelet, driver, node, problem }) =>
    problem === undefined ? [] : [`- Kubelet ${kubelet}, ${driver}, Node ${node}: ${oneLine(problem)}`],
  );
  return [
    `${summary}, Node ${nodes.join(", ")}. Of ${cells.length}: ${counts.join(", ")}.`,
    table(cells),
    problems.join("\n"),
    grid(["", "Made of"], parties),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

/** A row for each kubelet, a column for each driver. A Node is named only where it differs from the others. */
function table(cells: readonly Cell[]): string {
  const drivers = [...new Set(cells.map(({ driver }) => driver))];
  const rows = [...new Set(cells.map(({ kubelet }) => kubelet))].map((kubelet) => [
    kubelet,
    ...drivers.map((driver) => {
      const those = cells.filter((one) => one.kubelet === kubelet && one.driver === driver);
      const outcomes = [...new Set(those.map(({ outcome }) => outcome))];
      if (outcomes.length === 1) return outcomes.join();
      return those.map(({ node, outcome }) => `${node}: ${outcome}`).join("; ");
    }),
  ]);
  return grid(["Kubelet", ...drivers], rows);
}

/** A reason as it may stand in a list: no line of its own, and nothing that Markdown would take for its own. */
function oneLine(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[`*_<>[\]|]/g, "\\$&")
    .trim();
}
