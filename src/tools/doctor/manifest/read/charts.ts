import { type Tree, text, tree } from "../../../../kube-api/objects";
import charts from "./charts.json";

/**
 * Where a chart, an operator or a manifest has what concerns its registrar. `a.{b,c}` stands for two values of Helm; a text in
 * words with backticks is something else. docs/charts.md is written from these rows.
 */
export interface Chart {
  /** As in the label `helm.sh/chart`, or the project's name. */
  readonly chart: string;
  /** The chart's, or `commit ...` where it has no releases. */
  readonly version: string;
  /** When the chart, or the commit, got what the row was verified with. */
  readonly date: string;
  /** `OWNER/REPOSITORY PATH`. */
  readonly source: string;
  /** `read`: the text was read, not rendered by Helm with these values. */
  readonly how?: string;
  /** The CSI driver of a chart whose objects lack the label. */
  readonly driver?: string;
  /** The directory of the driver's socket, where that has another name. */
  readonly directory?: string;
  /** What `helm template` needs beside them. */
  readonly needs?: string;
  readonly image: string;
  readonly arguments?: string;
  readonly environment?: string;
  /** The registrar's whole `resources`. */
  readonly resources?: string;
  /** Takes the registrar out of the pods. */
  readonly off?: string;
  readonly note?: string;
}

export const CHARTS: readonly Chart[] = charts;

/** A part of a registrar's container that charts have a value for. */
export type ChartKey = "arguments" | "resources";

/** The chart that an object is from: by its label, or by the names that its driver may have. */
export function chartOf({ metadata, spec }: Tree, driverNames: readonly string[]): Chart | undefined {
  const template = tree(tree(tree(spec).template).metadata);
  const labels = [metadata, template].map((one) => text(tree(tree(one).labels)["helm.sh/chart"]));
  return CHARTS.find(
    ({ chart, driver, directory }) =>
      labels.some((label) => label.startsWith(chart) && /^[-_]v?\d/.test(label.slice(chart.length))) ||
      [driver, directory].some((name) => name !== undefined && driverNames.includes(name)),
  );
}
