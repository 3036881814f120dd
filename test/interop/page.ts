import { grid } from "../../bench/figures";
import { OUTCOMES, type Outcome } from "./registration";

/** How one registration ended. */
export interface Cell {
  readonly kubelet: string;
  readonly driver: string;
  readonly node: string;
  /** `problem`: what was not as it must be. */
  readonly result: { readonly outcome: Outcome } | { readonly problem: string };
}

/** What a run depends on. */
export interface Conditions {
  /** When, where, with which registrar. */
  readonly summary: string;
  /** What each party is made of. */
  readonly parties: Readonly<Record<string, string>>;
}

/** The part of docs/measurements.md that a run writes. */
export function interopText(cells: readonly Cell[], { summary, parties }: Conditions): string {
  const counts = OUTCOMES.map((outcome) => {
    const { length } = cells.filter(({ result }) => "outcome" in result && result.outcome === outcome);
    return `${length} ${outcome}`;
  });
  const failed = cells.filter(hasFailed);
  const nodes = [...new Set(cells.map(({ node }) => node))];
  const problems = failed.map(
    ({ kubelet, driver, node, result }, index) =>
      `${index + 1}. Kubelet ${kubelet}, ${driver}, Node ${node}: ${oneLine(result.problem)}`,
  );
  return [
    `${summary}, Node ${nodes.join(", ")}. Of ${cells.length}: ${counts.join(", ")}, ${failed.length} failed.`,
    table(cells, failed),
    problems.join("\n"),
    grid(["", "Made of"], Object.entries(parties)),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

export function hasFailed(cell: Cell): cell is Cell & { readonly result: { readonly problem: string } } {
  return "problem" in cell.result;
}

/** A row for each kubelet, a column for each driver. A Node is named only where it differs from the others. */
function table(cells: readonly Cell[], failed: readonly Cell[]): string {
  const drivers = [...new Set(cells.map(({ driver }) => driver))];
  const rows = [...new Set(cells.map(({ kubelet }) => kubelet))].map((kubelet) => [
    kubelet,
    ...drivers.map((driver) => {
      const those = cells.filter((one) => one.kubelet === kubelet && one.driver === driver);
      const texts = those.map((cell) => textOf(cell, failed));
      const [first] = texts;
      if (first !== undefined && texts.every((text) => text === first)) return first;
      return those.map(({ node }, index) => `${node}: ${texts[index]}`).join("; ") || "not tried";
    }),
  ]);
  return grid(["Kubelet", ...drivers], rows);
}

function textOf(cell: Cell, failed: readonly Cell[]): string {
  return "outcome" in cell.result ? cell.result.outcome : `**failed**, ${failed.indexOf(cell) + 1}`;
}

/** A reason as it may stand in a list: no line of its own, and nothing that Markdown would take for its own. */
function oneLine(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[`*_<>[\]|]/g, "\\$&")
    .trim();
}
