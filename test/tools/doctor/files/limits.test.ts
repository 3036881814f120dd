import fc from "fast-check";
import { LEAST } from "../../../../src/tools/manifest/image-policy/changes";
import { readText } from "../../../docs/markdown";
import {
  type Changes,
  daemonSet,
  expectSaid,
  findingsOfSwapIn,
  OFFICIAL,
  said,
  saidOf,
  TOLD,
} from "./one-daemon-set";

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
    (code) =>
      `^${code} unknown: has a .* limit of .*, which is not ${fix.startsWith("render") ? "filled in" : "a quantity"}.* -> ${fix}`,
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
const inNamespace = (namespace: string | undefined, object: object) => ({
  ...object,
  metadata: { name: "o", namespace },
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
  ["CSI105 .* -> raise default in LimitRange ns/o to 64Mi at least$", {}, byDefault("32Mi")],
  ["CSI114 .* -> raise default in .* 200m .*; raise max in .* to 200m at least$", {}, range(OF_CPU)],
  // Beside the container's own limit.
  [`${OWN}$`, SMALL, max("64Mi")],
  [`${OWN}$`, SMALL, max("65536Ki")],
  [`${OWN}$`, SMALL, max("67108864000000u")],
  [`${OWN}$`, SMALL, max("0")],
  [`${OWN}$`, SMALL, byDefault("50Mi")],
  [`${OWN}; raise max in LimitRange ns/o to 64Mi`, SMALL, max("50Mi")],
  ["CSI105 unknown: .* of \\$MEM for its pod, which is not filled in -> render", inPod({ memory: "$MEM" })],
  ...["-64Mi", "-1"].flatMap((memory): [string, Changes][] => [
    [
      `CSI105 problem: has a memory limit of ${memory}: the API server refuses a neg.* -> write 100Mi, or`,
      limits({ memory }),
    ],
    ["CSI105 problem: is in a pod with a memory limit of -", inPod({ memory })],
    ["CSI105 problem: has a memory request of -", { resources: { requests: { memory } }, image: OFFICIAL }],
  ]),
  ["CSI114 problem: has a CPU request of -1", { resources: { requests: { cpu: -1 } } }],
  ["CSI113 unknown: .*<type>", {}, range({ ...OF_CPU, type: "<type>" })],
  [
    "CSI105 problem: has .* of 100Mi, over the max of 50Mi in LimitRange ns/o: .* refuses",
    ENOUGH,
    max("50Mi"),
  ],
  ["CSI105 unknown: has .*, over the max of 50Mi", ENOUGH, inNamespace("$NS", max("50Mi"))],
  ["CSI113 unknown: .* has no type of a limit", {}, range({ ...OF_CPU, type: null })],
  ["CSI105 problem: gets a memory limit of 50Mi", {}, { kind: "List", items: [max("50Mi")] }],
  ["CSI105 unknown: gets .* one namespace is not known -> write", {}, inNamespace("$NS", max("50Mi"))],
  ["CSI105 unknown: .* known -> write the namespace", {}, inNamespace(undefined, max("50Mi"))],
])("a limit, in its pod and namespace: %s", (expected, changes, object = {}) => {
  expectSaid(said(daemonSet(changes), object), [`^${expected}`]);
});

test.each<[changes: Changes, beside?: object]>([
  [ENOUGH, byDefault("10Mi")],
  [{}, inNamespace("other", max("50Mi"))],
  [ENOUGH, inNamespace("$NS", max("100Mi"))],
  [{}, inNamespace("$NS", max("64Mi"))],
  [{}, { ...max("50Mi"), kind: "ResourceQuota" }],
  [{}, range({ min: { memory: "128Mi" } })],
  [memory(undefined, OFFICIAL), max("50Mi")],
  [inPod({ memory: "200Mi" }, { memory: "64Mi" })],
  [limits({ memory: null, cpu: null })],
  [limits(null)],
])("no fault in %j beside %j", (changes, object = {}) => {
  expect(said(daemonSet(changes), object)).toEqual([]);
});

test("objects whose namespace is the same, written or not, are in one", () => {
  for (const namespace of ["$NS", undefined]) {
    const object = { ...daemonSet(), metadata: { name: "x", namespace } };
    expectSaid(said(object, inNamespace(namespace, max("50Mi"))), ["^CSI105 problem: gets"]);
  }
});

test("each limit that is too low is told, with what raises it", () => {
  expectSaid(said(daemonSet(inPod({ memory: "60Mi" })), byDefault("32Mi")), [
    "^CSI105 problem: gets a memory limit of 32Mi from .* -> raise default in",
    "^CSI105 problem: is in a pod with .* of 60Mi: .* -> raise the limit of its pod to 64Mi",
  ]);
  expectSaid(said(daemonSet(inPod({ memory: "50Mi" }, { memory: "32Mi" }))), [
    `^${OWN}$`,
    "^CSI105 .* pod with .* of 50Mi",
  ]);
});

test("an unknown namespace hides nothing that is known", () => {
  const known = ["^CSI105 unknown: gets .* of 32Mi", "^CSI105 problem: is in a pod with .* of 60Mi"];
  expectSaid(said(daemonSet(inPod({ memory: "60Mi" })), inNamespace("$NS", byDefault("32Mi"))), known);
});

const cpu = (limit: unknown, more: object = {}): Changes => limits({ cpu: limit }, more);

test.each(["49m", 0.04, "1m"])("with less than 50m of CPU, such as %s, a start takes seconds", (limit) => {
  expectSaid(saidOf(cpu(limit)), ["^CSI114 warning: .* with less than 50m, .* -> set .*: 200m at least$"]);
});

test.each<Changes>([
  // What the image policy raises a limit to.
  ...[cpu(LEAST.cpu), cpu("1m", { image: OFFICIAL }), cpu("0"), cpu(undefined)],
  // Kubelet asks by itself: no process starts.
  cpu(LEAST.cpu, { more: ["--http-endpoint=:2"], livenessProbe: { httpGet: { path: "/healthz", port: 2 } } }),
])("no fault in %j", (changes) => {
  expect(saidOf(changes)).toEqual([]);
});

const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"];
const MODES = ["health-probe", "ready-probe", "kubelet-registration-probe"];
const probed = (kind: string, mode: string, timeoutSeconds?: number) => ({
  [kind]: {
    exec: { command: ["/csi-node-driver-registrar", `--mode=${mode}`, TOLD, "--csi-address=/csi/csi.sock"] },
    timeoutSeconds,
  },
});
/** `100m, warm or cold, 0.71 s at least and 1.10 s at most`, of each exec probe that was measured under a limit. */
const MEASURED = Array.from(
  readText("docs/measurements.md").matchAll(
    /^\| CPU limit (\d+)m(, cold)? \| start .* exec probe [\d.]+ s \(([\d.]+) to ([\d.]+)\)/gm,
  ),
  ([, millis, cold, least, most]) => [Number(millis), cold ?? "", Number(least), Number(most)] as const,
);

test.each(MEASURED)("an exec probe under %im%s takes as long as measured: %f to %f s", (...row) => {
  const [millis, cold, least, most] = row;
  const [line = ""] = saidOf(cpu(`${millis}m`, probed("livenessProbe", "health-probe")));
  const [, usual, reboot] = /takes about ([\d.]+) s, ([\d.]+) s after a reboot/.exec(line) ?? [];
  const told = Number(cold === "" ? usual : reboot);
  // The machine was busier in some rounds.
  expect(told).toBeGreaterThan(least * 0.75);
  expect(told).toBeLessThan(most * 1.25);
});

const asked = (kind: string, more: object) => ({
  ...{ more: ["--http-endpoint=:2"], [kind]: { httpGet: { path: "/healthz", port: 2 }, ...more } },
});
const HASTY = { periodSeconds: 1, timeoutSeconds: 1 };

test("under no limit that was measured a start is faster than told", () => {
  const starts = readText("docs/measurements.md").matchAll(
    /^\| CPU limit (\d+)m(, cold)? \| start ([\d.]+) s/gm,
  );
  for (const [, millis, cold, seconds] of starts) {
    const changes = cpu(`${millis}m`, asked("livenessProbe", { periodSeconds: 1, failureThreshold: 1 }));
    const told = /its start takes about ([\d.]+) s, ([\d.]+) s after/.exec(saidOf(changes).join("\n"));
    expect(Number(told?.[cold ? 2 : 1])).toBeLessThan(Number(seconds) * 1.1);
  }
});

test.each<[expected: string | undefined, changes: Changes]>([
  [
    "problem: has .* of 30m: its start takes about 3.33 s, 5 s after a reboot, and its livenessProbe ends it after 3 s -> set res",
    cpu("30m", asked("livenessProbe", HASTY)),
  ],
  ["problem: .* its startupProbe ends it after 3 s", cpu("30m", asked("startupProbe", HASTY))],
  [
    "warning: .* ends it after 2 s -> set initialDelaySeconds: 10 in its livenessProbe$",
    cpu("60m", asked("livenessProbe", { ...HASTY, failureThreshold: 2 })),
  ],
  ["warning: .* seconds to start", cpu("30m", asked("livenessProbe", { ...HASTY, initialDelaySeconds: 10 }))],
  ["warning: .* seconds to start", cpu("30m", asked("readinessProbe", HASTY))],
  ["warning: .* seconds to start", cpu("30m", asked("livenessProbe", { failureThreshold: 0 }))],
  [
    "warning: .* seconds to start",
    cpu("30m", {
      ...asked("livenessProbe", HASTY),
      startupProbe: { httpGet: { path: "/healthz", port: 2 }, failureThreshold: 30 },
    }),
  ],
  [undefined, cpu("100m", asked("livenessProbe", HASTY))],
])("a probe that ends a start: %s", (expected, changes) => {
  expectSaid(saidOf(changes), expected === undefined ? [] : [`^CSI114 ${expected}`]);
});

const CODES = /^CSI114/;
const severity = (lines: readonly string[]) =>
  Math.max(
    0,
    ...lines.map((line) => ["warning", "problem"].findIndex((one) => line.includes(` ${one}: `)) + 1),
  );

test("a probe that is sure to time out is a problem, with our image as after a swap, and 10 s are enough from 50m on", () => {
  expect(MEASURED.length).toBeGreaterThan(5);
  const [kinds, modes] = [fc.constantFrom(...PROBES), fc.constantFrom(...MODES)];
  const timeouts = fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined });
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 300 }), kinds, modes, timeouts, (millis, kind, mode, seconds) => {
      const of = (limit: number, timeout = seconds, more: Changes = {}) =>
        cpu(`${limit}m`, { ...probed(kind, mode, timeout), ...more });
      const lines = (changes: Changes) => saidOf(changes).filter((line) => CODES.test(line));
      const here = lines(of(millis));
      const swapped = findingsOfSwapIn([daemonSet(of(millis, seconds, { image: OFFICIAL }))]);
      expect(
        swapped
          .map(({ code, status, text, fix }) => `${code} ${status}: ${text} -> ${fix}`)
          .filter((line) => CODES.test(line)),
      ).toEqual(here);
      const usual = Number(/takes about ([\d.]+) s/.exec(here[0] ?? "")?.[1] ?? 0);
      expect(here.some((line) => line.includes("problem:"))).toBe(usual > (seconds || 1));
      // A higher limit or timeout never makes it worse.
      expect(severity(lines(of(millis + 20)))).toBeLessThanOrEqual(severity(here));
      expect(severity(lines(of(millis, (seconds || 1) + 1)))).toBeLessThanOrEqual(severity(here));
      if (millis >= 50) expect(lines(of(millis, LEAST.probeTimeoutSeconds))).toEqual([]);
    }),
  );
});

test.each<readonly [expected: string, changes: Changes]>([
  [
    "CSI114 problem: has .* of 50m: its livenessProbe takes about 1.6 s, 2.4 s after a reboot, and its timeoutSeconds is 1 -> set its timeoutSeconds: 10",
    cpu("50m", probed("livenessProbe", "health-probe")),
  ],
  ["CSI114 warning: .* its startupProbe .* 1.2 s .* 10", cpu("100m", probed("startupProbe", "ready-probe"))],
  [
    "CSI114 problem: .* its livenessProbe takes about 2 s, .* -> set resources.limits.cpu: 200m at least",
    cpu("40m", probed("livenessProbe", "health-probe")),
  ],
  [
    "CSI113 unknown: .*timeoutSeconds has {{ .* where a number must be -> render",
    probed("livenessProbe", "health-probe", "{{ .x }}" as never),
  ],
])("a probe's time: %s", (expected, changes) => {
  expectSaid(saidOf(changes), [`^${expected}`]);
});
