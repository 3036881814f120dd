import type { Chart, ChartKey } from "../read/charts";

/** A fix for a setting that the image policy changes, too: without a value in the chart, the policy is the fix. */
export function fixInChart(one: Chart | undefined, key: ChartKey, fix: string): string {
  return one !== undefined && one[key] === undefined
    ? `use registrar manifest --image-policy, which raises it: the chart ${one.chart} has no value for that`
    : fix + placeInChart(one, key);
}

/** Where to apply a fix, as the end of its sentence. */
export function placeInChart(one: Chart | undefined, key: ChartKey): string {
  if (one === undefined) return "";
  const value = one[key];
  return value === undefined
    ? `; the chart ${one.chart} has no value for that: see registrar manifest --image-policy`
    : `; in the chart ${one.chart}: ${value.replaceAll("`", "")}`;
}
