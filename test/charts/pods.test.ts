import type { Finding } from "../../src/tools/doctor/findings/finding";
import { leavesIn, replaceAt } from "../support/places";
import { findingsIn, findingsOfSwapIn, swapIn } from "../tools/doctor/files/one-daemon-set";
import { PODS } from "./pods";

const briefly = ({ code, status, subject }: Finding) =>
  `${code} ${status} ${subject.replace(/.*, container /s, "")}`;

test.each(PODS.map((row) => [row.project, row.path, row.values ?? "", row] as const))(
  "%s %s %s: doctor says what is true, and nothing else",
  (_project, _path, _values, row) => {
    expect(findingsIn(row.workloads).map(briefly)).toEqual(row.findings);
    expect(findingsOfSwapIn(row.workloads).map(briefly)).toEqual(row.swapped);
  },
);

/** A field of each kind in the first charts that have it: its path, with * for places in lists. */
function fieldsOf(charts: typeof PODS) {
  const times = new Map<string, number>();
  return charts.flatMap(({ workloads }) =>
    leavesIn(workloads).flatMap((path) => {
      const field = path.map((key) => (/^\d+$/.test(key) ? "*" : key)).join(".");
      const before = times.get(field) ?? 0;
      times.set(field, before + 1);
      return before < 2 ? { workloads, path } : [];
    }),
  );
}

test("a placeholder in any field makes no alarm, and nothing that a swap is known to change", () => {
  const alarms = (some: readonly Finding[]) =>
    some.filter(({ status }) => status === "problem" || status === "warning").map(({ code }) => code);
  const wrong = fieldsOf(PODS).flatMap(({ workloads, path }) => {
    const filled = replaceAt(workloads, path, "{{ x }}") as typeof workloads;
    const [before, after] = [swapIn(workloads), swapIn(filled)];
    const known = alarms([...findingsIn(workloads), ...before.findings]);
    const told = alarms([...findingsIn(filled), ...after.findings]).filter((code) => !known.includes(code));
    const count = [before.swapped, null].includes(after.swapped) ? [] : [after.swapped];
    return [...told, ...count].map((what) => `${path.join(".")}: ${what}`);
  });
  expect(wrong).toEqual([]);
});
