import { findingsOf } from "../../../src/doctor/findings/finding";
import { limitChecks } from "../../../src/doctor/manifest/judge/limits";
import { readDeployments } from "../../../src/doctor/manifest/read/deployments";
import { type Changes, CSI_DRIVER, daemonSet, expectSaid, OFFICIAL, said, saidOf } from "./one-daemon-set";

const limits = (memory: string): Changes => ({ container: { resources: { limits: { memory } } } });

test.each<readonly [codes: readonly string[], resources: unknown]>([
  [["CSI105"], { limits: { memory: "{{ .Values.x }}", cpu: "1" } }],
  [["CSI114"], { limits: { memory: "100Mi", cpu: "$CPU" } }],
  [["CSI105", "CSI114"], { limits: "{{ .limits }}" }],
  [["CSI105", "CSI114"], "{{ .resources }}"],
])("a limit that is a template is not judged: %j %j", (codes, resources) => {
  const expected = codes.map((code) => `^${code} unknown: has a .* limit of .*, which is a template ->`);
  expectSaid(saidOf({ container: { resources } }), expected);
  const file = { file: "a.yaml", object: daemonSet({ container: { resources } }) };
  expect(findingsOf(limitChecks, readDeployments([file])).map(({ isUnread }) => isUnread)).toEqual(
    codes.map(() => true),
  );
  expect(saidOf({ container: { image: OFFICIAL, resources } })).toEqual([]);
});

test.each(["lots", "100MB", "100K", "1.2.3Gi", "1e", "0x10", "100 Mi"])(
  "the memory limit %j is not a quantity, for any image",
  (memory) => {
    const { container } = limits(memory);
    const expected = `CSI105 problem: has a memory limit of ${memory}, which is not a quantity: the API server refuses it -> write 100Mi, for example`;
    expect(saidOf({ container: { ...container } })).toEqual([expected]);
    expect(saidOf({ container: { ...container, image: OFFICIAL } })).toEqual([expected]);
  },
);

test.each([
  ["64m", "64m is 0.064 byte; did you mean 64Mi or 64M?"],
  ["1500m", "1500m is 1.5 byte; did you mean 1500Mi or 1500M?"],
])("the memory limit %j has thousandths of a byte, for any image", (memory, expected) => {
  const { container } = limits(memory);
  const has = `CSI105 problem: has a memory limit of ${memory}:`;
  const own = `${has} it may never get ready after a reboot; ${expected} -> set resources.limits.memory: 100Mi, at least 64Mi`;
  expect(saidOf({ container: { ...container } })).toEqual([own]);
  const write = `${has} ${expected} -> write Mi or M in place of m`;
  expect(saidOf({ container: { ...container, image: OFFICIAL } })).toEqual([write]);
});

test.each([
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
  "+100Mi",
  " 100Mi ",
])("nothing is said of the memory limit %j", (memory) => expect(saidOf(limits(memory))).toEqual([]));

const range = (max: object | undefined, byDefault?: object, namespace: string | undefined = "ns") => ({
  kind: "LimitRange",
  metadata: { name: "all", namespace },
  spec: {
    limits: [
      { type: "PersistentVolumeClaim", max: { memory: "1Mi" } },
      { type: "Container", max, default: byDefault },
    ],
  },
});
/** What a LimitRange's item or a ResourceQuota has, beside a DaemonSet with so much memory. */
const ofNamespace = (item: object) => ({
  kind: "LimitRange",
  metadata: { name: "all", namespace: "ns" },
  spec: { limits: [item] },
});
const quota = (hard: object, used?: object, more: object = {}) => ({
  kind: "ResourceQuota",
  metadata: { name: "q", namespace: "ns" },
  spec: { hard, ...more },
  status: { used },
});
const onNodes = (pods: number, memory = "32Mi") => ({
  ...daemonSet(limits(memory)),
  status: { desiredNumberScheduled: pods },
});
const autoscaler = (mode: unknown, policy: object = {}, name = "x") => ({
  kind: "VerticalPodAutoscaler",
  metadata: { name: "v", namespace: "ns" },
  spec: {
    targetRef: { kind: "DaemonSet", name },
    updatePolicy: { updateMode: mode },
    resourcePolicy: { containerPolicies: [{ containerName: "registrar", ...policy }] },
  },
});
const ofPod = (own: object, pod: object): Changes => ({
  container: { resources: { limits: own } },
  pod: { resources: { limits: pod } },
});

const NEEDS = "CSI105 problem: has a memory limit of 32Mi: .* at least 64Mi; ";

test.each<readonly [expected: string, set: object, beside: object]>([
  [
    `${NEEDS}for 5 pods with 64Mi each ResourceQuota ns/q needs limits.memory: 340Mi at least, and has 200Mi$`,
    onNodes(5),
    quota({ "limits.memory": "200Mi" }, { "limits.memory": "180Mi" }),
  ],
  [
    `${NEEDS}for 1 pod with 64Mi each ResourceQuota ns/q needs limits.memory: 64Mi at least, and has 50M$`,
    daemonSet(limits("32Mi")),
    quota({ "limits.memory": "50M" }, undefined, { scopes: ["NotBestEffort"] }),
  ],
  ["at least 64Mi$", onNodes(5), quota({ "limits.memory": "340Mi" }, { "limits.memory": "180Mi" })],
  ["at least 64Mi$", onNodes(5), quota({ "limits.memory": "1Mi" }, undefined, { scopes: ["BestEffort"] })],
  ["at least 64Mi$", onNodes(5), quota({ "limits.memory": "1Mi" }, undefined, { scopeSelector: {} })],
  ["at least 64Mi$", onNodes(5), quota({ "limits.cpu": "1m" })],
  ["at least 64Mi$", onNodes(5), ofNamespace({ type: "Container", max: { memory: "100Mi" } })],
  [
    `${NEEDS}LimitRange ns/all needs a max of 164Mi for a pod, and has 150Mi$`,
    daemonSet({
      pod: {
        containers: [
          { ...daemonSet().spec.template.spec.containers[0], ...limits("32Mi").container },
          { name: "driver", resources: { limits: { memory: "100Mi" } } },
        ],
      },
    }),
    ofNamespace({ type: "Pod", max: { memory: "150Mi" } }),
  ],
  ["at least 64Mi$", onNodes(5), ofNamespace({ type: "Pod", max: { memory: "64Mi" } })],
  [
    `${NEEDS}LimitRange ns/all has maxLimitRequestRatio 2: request 32Mi at least$`,
    daemonSet({ container: { resources: { limits: { memory: "32Mi" }, requests: { memory: "16Mi" } } } }),
    ofNamespace({ type: "Container", maxLimitRequestRatio: { memory: 2 } }),
  ],
  ["at least 64Mi$", onNodes(5), ofNamespace({ type: "Container", maxLimitRequestRatio: { memory: 2 } })],
  [
    "CSI114 warning: .*; for 3 pods with 200m each ResourceQuota ns/q needs limits.cpu: 600m at least, and has 100m$",
    daemonSet({ container: { resources: { limits: { cpu: "20m" } } }, spec: { replicas: 3 } }),
    quota({ "limits.cpu": "100m" }),
  ],
  [
    "CSI114 warning: .*; do not take the limit off: ResourceQuota ns/q asks for one$",
    daemonSet({ container: { resources: { limits: { cpu: "20m" } } } }),
    quota({ "limits.cpu": 1 }),
  ],
  [
    "CSI114 warning: is in a pod .* -> raise the limit of its pod to 200m at least$",
    daemonSet(ofPod({}, { cpu: "40m" })),
    quota({ "limits.cpu": 1 }),
  ],
])("what a higher limit meets in its namespace: %s", (expected, set, beside) => {
  expectSaid(said(set, CSI_DRIVER, beside), [expected]);
});
const both = (...objects: readonly object[]) => ({ kind: "List", items: objects });
const requests = (memory: unknown, limits?: object, image?: string): Changes => ({
  container: { ...(image && { image }), resources: { requests: { memory }, limits } },
});
const cpuRequest: Changes = { container: { resources: { requests: { cpu: 2 }, limits: { cpu: 1 } } } };
const CPU_LIMIT: Changes = { container: { resources: { limits: { cpu: "1" } } } };

test.each<[expected: string | undefined, changes: Changes, beside?: object]>([
  ["CSI105 problem: is in a pod with .* 60Mi: .* -> raise .* of its pod to", ofPod({}, { memory: "60Mi" })],
  ["CSI105 problem: has .* of 70Mi, and its pod allows 66Mi", ofPod({ memory: "70Mi" }, { memory: "66Mi" })],
  ["CSI114 warning: is in a pod with a CPU limit of 40m: it registers", ofPod({}, { cpu: "40m" })],
  [undefined, ofPod({ memory: "64Mi" }, { memory: "200Mi" })],
  ["CSI105 problem: gets .* 50Mi from LimitRange ns/all: .* -> raise max in", {}, range({ memory: "50Mi" })],
  ["CSI105 .* gets .* 32Mi from .* -> raise default in", {}, range({ memory: "1Gi" }, { memory: "32Mi" })],
  ["CSI105 .* 32Mi from .* -> raise default and max", {}, range({ memory: "50Mi" }, { memory: "32Mi" })],
  ["CSI105 .* 64Mi; raise max in LimitRange ns/all as far$", limits("32Mi"), range({ memory: "50Mi" })],
  ["CSI105 .* 64Mi; raise the limit of its pod as far$", ofPod({ memory: "32Mi" }, { memory: "50Mi" })],
  ["CSI114 warning: gets .* 30m .* -> raise default and max", {}, range({ cpu: "40m" }, { cpu: "30m" })],
  [
    "CSI105 problem: .* LimitRange ns/all, whose default for memory, 100Mi, is above its max, 50Mi: the API server refuses",
    {},
    range({ memory: "50Mi" }, { memory: "100Mi" }),
  ],
  ["CSI105 unknown: .* of \\$MEM, which is a template -> render", ofPod({}, { memory: "$MEM" })],
  ["CSI105 problem: .* 100Mi, and LimitRange ns/all allows 50Mi", limits("100Mi"), range({ memory: "50Mi" })],
  [
    "CSI105 problem: .* allows 50Mi",
    { ...limits("100Mi"), container: { ...limits("100Mi").container, image: OFFICIAL } },
    range({ memory: "50Mi" }),
  ],
  [undefined, {}, range({ memory: "50Mi" }, undefined, "other")],
  [undefined, { container: { image: OFFICIAL } }, range({ memory: "50Mi" })],
  [undefined, limits("100Mi"), range(undefined, { memory: "10Mi" })],
  ["CSI105 warning: may get .* ns/v -> add .* minAllowed: \\{mem", limits("100Mi"), autoscaler("Recreate")],
  ["CSI105 warning", limits("100Mi"), autoscaler(undefined, { containerName: "*" })],
  ["CSI105 warning: may get a low", {}, both(range(undefined, { memory: "100Mi" }), autoscaler("Recreate"))],
  ["CSI114 warning: may get a lower CPU limit .* minAllowed: \\{cpu: 50m", CPU_LIMIT, autoscaler("Recreate")],
  ["CSI105 .* of 100Mi, and requests 128Mi: .* -> lower the request", requests("128Mi", { memory: "100Mi" })],
  ["CSI105 problem: .* limit of 100Mi, and requests 128Mi", requests("128Mi", { memory: "100Mi" }, OFFICIAL)],
  ["CSI114 problem: has a CPU limit of 1, and requests 2: the", cpuRequest],
  [
    "CSI105 problem: gets a memory limit of 100Mi from LimitRange ns/all, and requests 128Mi: the",
    requests("128Mi"),
    range({ memory: "1Gi" }, { memory: "100Mi" }),
  ],
  ["CSI105 problem: has a memory request of 1MB, which is not a quantity: the API", requests("1MB")],
  ["CSI105 problem: has a memory request of -1, which is negative: the API", requests(-1)],
  [
    "CSI105 problem: has a memory limit of 100Mi, and LimitRange ns/all asks for 128Mi at least: the API",
    limits("100Mi"),
    ofNamespace({ type: "Container", min: { memory: "128Mi" } }),
  ],
  [
    "CSI105 problem: has a memory request of 100Mi, and LimitRange ns/all asks for 128Mi at least: the API",
    requests("100Mi", { memory: "200Mi" }),
    ofNamespace({ type: "Container", min: { memory: "128Mi" } }),
  ],
  [undefined, requests("1Gi", { memory: "1Gi" }), ofNamespace({ type: "Container", min: { memory: "9Mi" } })],
  [undefined, requests("{{ .memory }}", { memory: "100Mi" })],
  [undefined, limits("100Mi"), autoscaler(false)],
  [undefined, limits("100Mi"), autoscaler("Recreate", { mode: "Off" })],
  [undefined, limits("100Mi"), autoscaler("Recreate", { minAllowed: { memory: "64Mi" } })],
  [undefined, limits("100Mi"), autoscaler("Recreate", { controlledValues: "RequestsOnly" })],
  [undefined, limits("100Mi"), autoscaler("Recreate", { controlledResources: ["cpu"] })],
  [undefined, limits("100Mi"), autoscaler("Recreate", {}, "y")],
  [undefined, {}, autoscaler("Recreate")],
  ["CSI105 .* of 32Mi from LimitRange", ofPod({}, { memory: "60Mi" }), range(undefined, { memory: "32Mi" })],
  [undefined, {}, { ...range({ memory: "50Mi" }), kind: "ResourceQuota" }],
  [undefined, {}, ofNamespace({ type: "Container", min: { memory: "128Mi" } })],
  [undefined, requests(null), ofNamespace({ type: "Container", min: { memory: "128Mi" } })],
  [undefined, ofPod({}, { memory: "200Mi" }), autoscaler("Recreate")],
  ["CSI105 warning", limits("100Mi"), autoscaler("Recreate", { containerName: "driver", mode: "Off" })],
  [undefined, limits("100Mi"), { ...autoscaler("Recreate"), spec: { targetRef: { kind: "X", name: "x" } } }],
  ['CSI105 problem: .* "all", which is not a map', { container: { resources: { limits: "all" } } }],
])("limits that the container does not have itself: %s", (expected, changes, beside = {}) => {
  expectSaid(said(daemonSet(changes), CSI_DRIVER, beside), expected ? [`^${expected}`] : []);
});
