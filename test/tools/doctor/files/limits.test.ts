import { LEAST } from "../../../../src/tools/manifest/image-policy/changes";
import { type Changes, daemonSet, expectSaid, OFFICIAL, said, saidOf } from "./one-daemon-set";

const limits = (of: object | null, container: object = {}): Changes => ({
  resources: { limits: of },
  ...container,
});
const memory = (limit: unknown, image = "registrar:v1") => limits({ memory: limit }, { image });

test.each<readonly [codes: readonly string[], resources: unknown, fix: string]>([
  [["CSI105"], { limits: { memory: "{{ .Values.x }}", cpu: "1" } }, "render"],
  [["CSI114"], { limits: { memory: "100Mi", cpu: "$CPU" } }, "render"],
  ...["lots", "100MB", "100K", "1.2.3Gi", "1e", "0x10", "100 Mi", "", " "].map(
    (memory): [string[], object, string] => [["CSI105"], { limits: { memory } }, "write 100Mi, for example$"],
  ),
  [["CSI114"], { limits: { cpu: "1MB" } }, "write 200m"],
])("a limit that is not a quantity is not judged: %j %j", (codes, resources, fix) => {
  const expected = codes.map(
    (code) => `^${code} unknown: has a .* limit of .*, which is not a qu.* -> ${fix}`,
  );
  const changed = daemonSet({ resources });
  expectSaid(said(changed), expected);
  expect(saidOf({ image: OFFICIAL, resources })).toEqual([]);
});

test.each(["64m", "1500m "])("%j is thousandths of a byte, for any image", (limit) => {
  const expected = `CSI105 problem: has a memory limit of ${limit}: m is a thousandth of a byte -> write Mi or M in place of m`;
  expect(saidOf(memory(limit))).toEqual([expected]);
  expect(saidOf(memory(limit, OFFICIAL))).toEqual([expected]);
});

const QUANTITIES = [
  "64Mi",
  "100M",
  "0.1Gi",
  ".15G",
  "1e8",
  "1E+10",
  "Mi",
  ".G",
  "1E",
  "100000k",
  "100000000000m",
];

test.each([...QUANTITIES, "+100Mi", " 100Mi ", "0", null])("the memory limit %j has no finding", (limit) =>
  expect(saidOf(memory(limit))).toEqual([]),
);

const range = (item: object) => {
  const ofVolumes = { type: "PersistentVolumeClaim", max: { memory: "1Mi" } };
  const spec = { limits: [ofVolumes, { type: "Container", ...item }] };
  return { kind: "LimitRange", metadata: { name: "o", namespace: "ns" }, spec };
};
const max = (of: string) => range({ max: { memory: of } });
const byDefault = (of: string) => range({ default: { memory: of } });
const inPod = (pod: object, own: object = {}): Changes => ({
  ...limits(own),
  pod: { resources: { limits: pod } },
});
const SMALL = memory("32Mi");
const ENOUGH = memory("100Mi");
const OF_CPU = { max: { cpu: "40m" }, default: { cpu: "30m" } };

const OWN = "CSI105 .* -> set resources.limits.memory: 100Mi, at least 64Mi";

test.each<[expected: string, changes: Changes, beside?: object]>([
  ["CSI105 problem: has .* of 63Mi: Node\\.js may hang while loading after a reboot -> set", memory("63Mi")],
  ["CSI105 problem: is in a pod with .* of 60Mi: .* -> raise .* pod to 64Mi", inPod({ memory: "60Mi" })],
  [
    "CSI114 warning: is in a pod with .* of 40m: Node.js takes seconds .* pod to 200m at least$",
    inPod({ cpu: "40m" }),
  ],
  ["CSI105 .* of 50Mi from LimitRange .* -> raise max in [^;]* to 64Mi at least$", {}, max("50Mi")],
  ["CSI105 problem: gets a memory limit of 32Mi from", inPod({ memory: "60Mi" }), byDefault("32Mi")],
  ["CSI105 .* -> raise default in LimitRange ns/o to 64Mi at least$", {}, byDefault("32Mi")],
  ["CSI114 .* -> raise default in .* 200m .*; raise max in .* to 200m at least$", {}, range(OF_CPU)],
  // Beside the container's own limit.
  [`${OWN}$`, SMALL, max("64Mi")],
  [`${OWN}$`, SMALL, max("0")],
  [`${OWN}$`, SMALL, byDefault("50Mi")],
  [`${OWN}; raise max in LimitRange ns/o to 64Mi`, SMALL, max("50Mi")],
  [`${OWN}; raise the limit of its pod to 64Mi`, inPod({ memory: "50Mi" }, { memory: "32Mi" })],
  ["CSI105 unknown: .* of \\$MEM, which is not a quantity -> render", inPod({ memory: "$MEM" })],
  ["CSI105 problem: gets a memory limit of 50Mi", {}, { kind: "List", items: [max("50Mi")] }],
])("a limit, in its pod and namespace: %s", (expected, changes, object = {}) => {
  expectSaid(said(daemonSet(changes), object), [`^${expected}`]);
});

test.each<[changes: Changes, beside?: object]>([
  [ENOUGH, byDefault("10Mi")],
  [{}, { ...max("50Mi"), metadata: { name: "o", namespace: "other" } }],
  [{}, { ...max("50Mi"), kind: "ResourceQuota" }],
  [{}, range({ min: { memory: "128Mi" } })],
  [memory(undefined, OFFICIAL), max("50Mi")],
  [inPod({ memory: "200Mi" }, { memory: "64Mi" })],
  [limits({ memory: null, cpu: null })],
  [limits(null)],
])("no fault in %j beside %j", (changes, object = {}) => {
  expect(said(daemonSet(changes), object)).toEqual([]);
});

const cpu = (limit: unknown, more: object = {}): Changes => limits({ cpu: limit }, more);

test.each(["49m", 0.04, "1m"])("with less than 50m of CPU, such as %s, a start takes seconds", (limit) => {
  expectSaid(saidOf(cpu(limit)), ["^CSI114 warning: .* with less than 50m, .* -> set .*: 200m at least$"]);
});

test.each<Changes>([
  // What the image policy raises a limit to.
  ...[cpu(LEAST.cpu), cpu("1m", { image: OFFICIAL }), cpu("0"), cpu(undefined)],
])("no fault in %j", (changes) => {
  expect(saidOf(changes)).toEqual([]);
});
