import { METRICS } from "../../src/diagnostics/metric-table";
import { codeIn, codeOf, readText, rowsIn, SOURCE, sectionOf } from "./markdown";

const rows = rowsIn(sectionOf(readText("docs/operations.md"), "Metrics")).map(([name = "", labels = ""]) => ({
  name: codeOf(name),
  labels: codeIn(labels),
}));
/** The one metric that is not read from the status: prom-client keeps it. */
const HISTOGRAM = "csi_sidecar_operations_seconds";

test("the table has every metric with its labels, and no other", () => {
  const byName = (one: { readonly name: string }, other: { readonly name: string }) =>
    one.name < other.name ? -1 : 1;
  const wanted = METRICS.map(({ name, labelNames = [] }) => ({ name, labels: labelNames }));
  const documented = rows.filter(({ name }) => name !== HISTOGRAM);
  expect([...documented].sort(byName)).toEqual([...wanted].sort(byName));
});

test("the histogram of calls has the labels of its row", () => {
  const { labels = [] } = rows.find(({ name }) => name === HISTOGRAM) ?? {};
  expect(SOURCE).toContain(`labelNames: [${labels.map((label) => `"${label}"`).join(", ")}]`);
});
