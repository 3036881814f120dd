import { LEAST } from "../../../../src/tools/manifest/image-policy/changes";
import {
  type Changes,
  daemonSet,
  expectSaid,
  findingsIn,
  OFFICIAL,
  said,
  saidOf,
  TOLD,
} from "./one-daemon-set";

const limits = (of: object | string | null, container: object = {}): Changes => ({
  resources: { limits: of },
  ...container,
});
const memory = (limit: unknown, image = "registrar:v1") => limits({ memory: limit }, { image });

test.each<readonly [codes: readonly string[], resources: unknown, fix: string]>([
  [["CSI105"], { limits: { memory: "{{ .Values.x }}", cpu: "1" } }, "render"],
  [["CSI114"], { limits: { memory: "100Mi", cpu: "$CPU" } }, "render"],
  [["CSI105", "CSI114"], { limits: "{{ .limits }}" }, "render"],
  [["CSI105", "CSI114"], "{{ .resources }}", "render"],
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
  expect(findingsIn([changed]).map(({ isUnread }) => isUnread)).toEqual(codes.map(() => true));
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

test.each([...QUANTITIES, "+100Mi", " 100Mi ", "0", null])(
  "nothing is said of the memory limit %j",
  (limit) => expect(saidOf(memory(limit))).toEqual([]),
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
  ["CSI114 warning: is in a pod with .* of 40m: it starts .* pod to 200m at least$", inPod({ cpu: "40m" })],
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

const command = ["/csi-node-driver-registrar", "--mode=health-probe", TOLD];
const exec = (timing: object = {}) => ({ exec: { command }, ...timing });
const http = (timing: object = {}) => ({ httpGet: { path: "/healthz", port: 2 }, ...timing });
const cpu = (limit: unknown, livenessProbe?: object, more: object = {}): Changes => ({
  ...limits({ cpu: limit }, { livenessProbe, ...more }),
  more: ["--http-endpoint=:2"],
});
const IMPATIENT = { periodSeconds: 5, failureThreshold: 2 };
const RAISE = "-> set resources.limits.cpu: 200m at least";
const EXEC = "an exec probe takes 1.6 to 3.2 s, and the";

test.each<readonly [expected: string, Changes]>([
  [
    `problem: .* of 50m: ${EXEC} livenessProbe has timeoutSeconds: 1 ${RAISE}, or set .*: 10$`,
    cpu("50m", exec(), { startupProbe: exec({ timeoutSeconds: 2 }) }),
  ],
  [`problem: .* ${EXEC} startupProbe has`, cpu("50m", undefined, { startupProbe: exec() })],
  [`problem: .* ${EXEC} readinessProbe has`, cpu(0.05, undefined, { readinessProbe: exec() })],
  // A longer time does not help: the probe's own call takes too long.
  [`problem: .* 8.0 s, .* timeoutSeconds: 3 ${RAISE}$`, cpu("20m", exec({ timeoutSeconds: 3 }))],
  [
    `problem: has a CPU limit of 10m: it starts in 10.0 to 25.0 s, and the livenessProbe waits 7 s ${RAISE}$`,
    cpu("10m", http({ initialDelaySeconds: 2, ...IMPATIENT })),
  ],
  ["problem: .* and the startupProbe waits 5 s ->", cpu("10m", http(), { startupProbe: http(IMPATIENT) })],
  ["problem: .* 20.0 to 50.0 s, and the livenessProbe waits 20 s", cpu("5m", http())],
  ["warning: .* 10.0 to 25.0 s, and the livenessProbe waits 20 s", cpu("10m", http())],
  [`warning: .* it starts in 10.0 to 25.0 s ${RAISE}$`, cpu("10m")],
  [`warning: .* it starts in 2.0 to 5.1 s, .* ${RAISE}$`, cpu("49m", http())],
  ["warning: .* 1.6 s, .* 1; it may fail -> .* or set timeout", cpu("100m", exec())],
  ["warning: .* 1.0 to 2.0 s, .* it may fail", cpu("80m", exec())],
  ["warning: .* 16.0 s, .* 15; it may fail", cpu("10m", exec({ timeoutSeconds: 15, failureThreshold: 9 }))],
])("%s", (expected, changes) => {
  expectSaid(saidOf(changes), [`^CSI114 ${expected}`]);
});

test.each<Changes>([
  // What the image policy raises a limit and a timeout to.
  cpu(LEAST.cpu, exec({ timeoutSeconds: LEAST.probeTimeoutSeconds })),
  cpu(LEAST.cpu, http()),
  cpu("100m", exec({ timeoutSeconds: 2 })),
  cpu("160m", exec()),
  cpu("100m", http({ failureThreshold: 1 })),
  // Kubelet asks no liveness probe before the startup probe has succeeded.
  cpu("50m", http({ failureThreshold: 1 }), { startupProbe: http({ failureThreshold: 30 }) }),
  cpu("1m", http(), { image: OFFICIAL }),
  cpu("0"),
  cpu(undefined, exec()),
  cpu("100m", { exec: { command: ["/nodejs/bin/node", "-v"] } }),
])("no fault in %j", (changes) => {
  expect(saidOf(changes)).toEqual([]);
});
