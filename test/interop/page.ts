import { grid } from "../../bench/figures";
import type { Outcome } from "./registration";

export interface Cell {
  readonly kubelet: string;
  readonly driver: string;
  readonly node: string;
  readonly outcome: Outcome | "failed";
}

/** The part of docs/measurements.md that a run writes. `summary` says when, where and with which registrar it was played. */
export function interopText(cells: readonly Cell[], summary: string): string {
  const counts = (["registered", "refused", "failed"] as const).map(
    (outcome) => `${cells.filter((cell) => cell.outcome === outcome).length} ${outcome}`,
  );
  const nodes = [...new Set(cells.map(({ node }) => node))];
  return `${summary}, Node ${nodes.join(", ")}. Of ${cells.length}: ${counts.join(", ")}.\n\n${table(cells)}`;
}

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
