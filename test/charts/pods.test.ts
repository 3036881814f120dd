import { writeYaml } from "../../src/kube-api/yaml";
import { documentsIn, readDocument } from "../../src/tools/doctor/files/read/documents";
import { reportOnFiles } from "../../src/tools/doctor/files/report";
import type { Finding } from "../../src/tools/doctor/findings/finding";
import { leavesIn, replaceAt } from "../support/places";
import {
  findingsIn,
  findingsOfSwapIn,
  readAs,
  swapIn,
  verdictsIn,
} from "../tools/doctor/files/one-daemon-set";
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

test("a placeholder in any field changes no verdict, or makes one unknown: the exit code is 3, not 0", () => {
  const verdicts = (workloads: (typeof PODS)[number]["workloads"]) =>
    verdictsIn(workloads).map(({ code, status }) => `${code} ${status}`);
  const wrong = fieldsOf(PODS).flatMap(({ workloads, path }) => {
    const after = verdicts(replaceAt(workloads, path, "{{ x }}") as typeof workloads);
    // Files without a registrar are refused.
    const isKnown = after.length > 0 && !after.some((one) => one.endsWith(" unknown"));
    const before = verdicts(workloads).sort().join();
    return isKnown && after.sort().join() !== before ? `${path.join(".")}: ${after.join()}` : [];
  });
  expect(wrong).toEqual([]);
});

/** Undefined: it cannot be read, or has no registrar. */
function objectIfHealthy(text: string) {
  try {
    const objects = documentsIn(text).map(
      (one) => readDocument(one) as (typeof PODS)[number]["workloads"][number],
    );
    return reportOnFiles({ files: ["-"], ...readAs("stdin", objects) }, {}).report.healthy
      ? objects[0]
      : undefined;
  } catch {
    return undefined;
  }
}

/** As `curl FILE | registrar doctor -f -` gets it when the download breaks off. */
test("of a file that is cut behind a line, doctor says that there is no problem only if each container has its volumes", () => {
  const whole = PODS.filter((_, at) => at % 9 === 0)
    .flatMap(({ workloads }) => workloads)
    .filter((workload) => objectIfHealthy(writeYaml(workload)) !== undefined);
  expect(whole.length).toBeGreaterThan(5);
  for (const workload of whole) {
    const lines = writeYaml(workload).split("\n");
    for (const at of lines.keys()) {
      const { spec } = objectIfHealthy(`${lines.slice(0, at).join("\n")}\n`) ?? {};
      if (spec === undefined) continue;
      const { volumes = [], ...others } = spec.template.spec;
      const mounted = others.containers.flatMap(({ volumeMounts = [] }) =>
        volumeMounts.map(({ name }) => name),
      );
      expect(volumes.map(({ name }) => name)).toEqual(expect.arrayContaining(mounted));
      expect(volumes.map(({ hostPath }) => hostPath)).not.toContain(null);
      expect(others.containers).toEqual(workload.spec.template.spec.containers);
    }
  }
});
