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

/** The part of docs/interop.md that a run writes. */
export function interopText(cells: readonly Cell[], { summary, parties }: Conditions): string {
  const counts = OUTCOMES.map((outcome) => {
    const { length } = cells.filter(({ result }) => "outcome" in result && result.outcome === outcome);
    return `${length} ${outcome}`;
  });
  const failed = cells.filter(hasFailed);
  const problems = failed.map(
    ({ kubelet, driver, node, result }, index) =>
      `${index + 1}. Kubelet ${kubelet}, ${driver}, Node ${node}: ${oneLine(result.problem)}`,
  );
  return [
    `${summary}. Of ${cells.length}: ${counts.join(", ")}, ${failed.length} failed.`,
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

/** A row for each kubelet and driver, a column for each Node. */
function table(cells: readonly Cell[], failed: readonly Cell[]): string {
  const nodes = [...new Set(cells.map(({ node }) => node))];
  const pairs = new Map(cells.map((cell) => [`${cell.kubelet} ${cell.driver}`, cell]));
  const rows = [...pairs.values()].map(({ kubelet, driver }) => [
    kubelet,
    driver,
    ...nodes.map((node) => {
      const cell = cells.find((one) => one.kubelet === kubelet && one.driver === driver && one.node === node);
      if (cell === undefined) return "not tried";
      return "outcome" in cell.result ? cell.result.outcome : `**failed**, ${failed.indexOf(cell) + 1}`;
    }),
  ]);
  return grid(["Kubelet", "Driver", ...nodes.map((node) => `Node ${node}`)], rows);
}

/** A reason as it may stand in a list: no line of its own, and nothing that Markdown would take for its own. */
function oneLine(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[`*_<>[\]|]/g, "\\$&")
    .trim();
}
