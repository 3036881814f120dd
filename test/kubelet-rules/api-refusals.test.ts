import { invalidCsiNodeDriver, invalidLabels } from "../../src/kubelet-rules/api-refusals";
import { behaviourOf, SIMULATED_VERSIONS } from "../../src/kubelet-rules/versions";

type Wording = Parameters<typeof invalidLabels>[2];

const letters = (length: number) => "a".repeat(length);
/** As many bytes, each letter has two: the bounds are of bytes, as a Go string has its length. */
const wide = (bytes: number) => "\u00e9".repeat(bytes / 2);
const BOUNDS = [letters(63), letters(64), wide(62), wide(64)];
const PREFIXES = [letters(253), letters(254), wide(254), "Upper.example.com", "a..b", ""].map(
  (prefix) => `${prefix}/a`,
);
const labels: readonly Readonly<Record<string, string>>[] = [
  ...[...BOUNDS, ...PREFIXES, "a/b/c", "", "a/", "_a", "my.name", 'a"b'].map((key) => ({ [key]: "" })),
  ...[...BOUNDS, "-a", "My_value.1", "a b"].map((value) => ({ a: value })),
  { "a b": "c d", "example.com/zone": "z", "a c": "c d" },
];
const drivers: readonly (readonly [name: string, nodeId: string, others: number])[] = [
  ...[...BOUNDS, letters(253), letters(254), "X.csi", "x_csi", ""].map((name) => [name, "1", 0] as const),
  ...[128, 129, 256, 257].map((length) => ["x.csi", letters(length), 1] as const),
  ...["", wide(256), wide(258)].map((id) => ["x.csi", id, 2] as const),
  ["x_csi", "", 7],
];

const shown = new Set<string>();
/** Letters that repeat are counted, and a format is shown once. */
const abridged = (text: string) =>
  text
    .replace(/(.)\1{9,}/gu, (run, one) => `${one}{${run.length}}`)
    .replace(/\(e\.g\. '.*?'\)/g, (format) => (shown.has(format) ? "(...)" : shown.add(format) && format));

/** A refusal by each kubelet's API server that words it otherwise than the one before. */
function inEachVersion(what: string, refusalBy: (wording?: Wording) => string | undefined): string {
  const refusals = SIMULATED_VERSIONS.map((version) => refusalBy(behaviourOf(version)) ?? "accepted");
  expect(refusalBy() ?? "accepted").toBe(refusals.at(-1));
  const lines = refusals.flatMap((refusal, index) =>
    refusal === refusals[index - 1] ? [] : [`  ${SIMULATED_VERSIONS[index]}: ${refusal}`],
  );
  return ["", what, ...lines].map(abridged).join("\n");
}

test("which topology and which entry of CSINode the API server refuses, and in which words", () => {
  const ofLabels = labels.map((all) =>
    inEachVersion(`labels ${JSON.stringify(all)}`, (wording) => invalidLabels("n", all, wording)),
  );
  const ofDrivers = drivers.map(([name, nodeId, others]) =>
    inEachVersion(`driver ${others}: ${JSON.stringify([name, nodeId])}`, (wording) =>
      invalidCsiNodeDriver("n", { name, nodeId }, others, wording),
    ),
  );
  expect(invalidCsiNodeDriver("n", { name: "", nodeId: "1" })).toContain("spec.drivers[0].name");
  expect([...ofLabels, ...ofDrivers].join("\n")).toMatchSnapshot();
});
