import { type Changes, CSI_DRIVER, daemonSet, expectSaid, OFFICIAL, said, saidOf } from "./one-daemon-set";

const limits = (memory: string): Changes => ({ container: { resources: { limits: { memory } } } });
const command = ["/bin/sh", "-c", "rm -rf /registration/x"];
const onStop = (words: readonly string[]) => ({ lifecycle: { preStop: { exec: { command: words } } } });
/** The package, in an image that has a shell. */
const IN_NODE_IMAGE = { image: "node:24", command: ["node", "/node_modules/registrar/dist/cli.js"] };
const surge = (maxSurge: unknown): Changes => {
  const { spec } = daemonSet();
  return { spec: { ...spec, updateStrategy: { rollingUpdate: { maxSurge } } } };
};

test.each<readonly [expected: RegExp, Changes]>([
  [/^CSI105 problem: has a memory limit of 63Mi: it may never get ready after a reboot ->/, limits("63Mi")],
  [/^CSI105 problem: has a memory limit of 100m:/, limits("100m")],
  [
    /^CSI105 problem: has a memory limit of -100Mi, which is negative: the API server refuses/,
    limits("-100Mi"),
  ],
  [/^CSI105 problem: has a memory limit of "", which is not a quantity: the API server refuses/, limits("")],
  [
    /^CSI105 problem: has resources\.limits "10Mi", which is not a map: .* -> write resources\.limits: \{mem/,
    { container: { resources: { limits: "10Mi" } } },
  ],
  [/^CSI105 problem: has resources\.limits \[\], which/, { container: { resources: { limits: [] } } }],
  [
    /^CSI106 warning: .* always fails, because the image has no shell: .*rm -rf/,
    { container: onStop(command) },
  ],
  [/^CSI106 warning: .* always fails, .*: sh -c sleep 5/, { container: onStop(["sh", "-c", "sleep 5"]) }],
  [/^CSI106 warning: .* removes files: .*rm -rf/, { container: { ...IN_NODE_IMAGE, ...onStop(command) } }],
  [/^CSI106 warning: .* removes files: .*rm -rf/, { container: { image: OFFICIAL, ...onStop(command) } }],
  [/^CSI107 problem: updates with maxSurge 10%/, surge("10%")],
])("%s", (expected, changes) => {
  expectSaid(saidOf(changes), [expected]);
});

test.each<readonly [codes: readonly string[], resources: unknown]>([
  [["CSI105"], { limits: { memory: "{{ .Values.x }}", cpu: "1" } }],
  [["CSI114"], { limits: { memory: "100Mi", cpu: "$CPU" } }],
  [["CSI105", "CSI114"], { limits: "{{ .limits }}" }],
  [["CSI105", "CSI114"], "{{ .resources }}"],
])("a limit that is a template is not judged: %j %j", (codes, resources) => {
  const expected = codes.map((code) => `^${code} unknown: has a .* limit of .*, which is a template ->`);
  expectSaid(saidOf({ container: { resources } }), expected);
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

test.each(["100M", "0.1Gi", ".1G", "1e8", "1E+8", "1E", "100000k", "100000000000m", "+100Mi", " 100Mi "])(
  "nothing is said of the memory limit %j",
  (memory) => expect(saidOf(limits(memory))).toEqual([]),
);

const affinity = (...terms: readonly (readonly object[])[]): Changes => {
  const nodeSelectorTerms = terms.map((matchExpressions) => ({ matchExpressions }));
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return { pod: { affinity: { nodeAffinity } } };
};
const os = (operator: string, ...values: readonly string[]) => ({
  key: "kubernetes.io/os",
  operator,
  values,
});
const ARM = { key: "kubernetes.io/arch", operator: "In", values: ["arm64"] };

test.each<Changes>([
  { pod: { os: { name: "windows" } } },
  { pod: { nodeSelector: { "kubernetes.io/os": "windows" } } },
  { pod: { nodeSelector: { "beta.kubernetes.io/os": "windows" } } },
  { pod: { nodeSelector: { "node.kubernetes.io/windows-build": "10.0.20348" } } },
  { pod: { nodeSelector: { "cloud.google.com/gke-os-distribution": "windows_ltsc" } } },
  affinity([{ key: "node.kubernetes.io/windows-build", operator: "Exists" }]),
  { pod: { securityContext: { windowsOptions: { hostProcess: true } } } },
  affinity([ARM, os("In", "windows")], [os("NotIn", "linux")]),
  { container: { command: ["C:\\registrar.exe"] } },
  { container: { command: ["registrar.exe"] } },
  { container: { args: ["--csi-address=unix://C:\\\\csi\\\\csi.sock"] } },
  { container: { env: [{ name: "PATH", value: "C:/csi" }] } },
  { container: { volumeMounts: [{ name: "plugin", mountPath: "C:\\csi" }] } },
])("nothing else is said of %j, which is for Windows", (changes) => {
  expectSaid(saidOf({ args: ["--nope"], ...changes }), [/^CSI112 problem: is for Windows nodes/]);
});

test("a patch is not judged", () => {
  expectSaid(saidOf({ args: ["--nope"], spec: { selector: undefined } }), [
    /^CSI113 unknown: cannot be judged: it has no selector, .*kubectl kustomize/,
  ]);
});

const IMAGE = "docker.io/longhornio/csi-node-driver-registrar:v2.16.0-20260428";
const operator = (env: object, image = "operator:v1") => ({
  kind: "Deployment",
  spec: { template: { spec: { containers: [{ name: "operator", image, env: [env] }] } } },
});

test.each([
  operator({ name: "CSI_NODE_DRIVER_REGISTRAR_IMAGE", value: IMAGE }),
  { kind: "ConfigMap", data: { ROOK_CSI_REGISTRAR_IMAGE: IMAGE } },
  { kind: "HPECSIDriver", spec: { images: { csiNodeDriverRegistrar: IMAGE.replace(/:.*/, "@sha256:0") } } },
])("an operator's %j", (object) => {
  expectSaid(said(object), [/^CSI113 unknown: cannot be judged: an operator writes .* doctor --cluster$/]);
});

test.each([
  operator({ name: "NAME", value: "csi-node-driver-registrar" }),
  operator({}, "quay.io/k8scsi/csi-cluster-driver-registrar:v1.0.1"),
  { kind: "CustomResourceDefinition", spec: { default: IMAGE } },
  { kind: "Kustomization", images: [{ newName: IMAGE }] },
  { kind: "ClusterPolicy", spec: { image: `${IMAGE}*` } },
])("no operator's %j", (object) => {
  expect(said(object)).toEqual([]);
});

const ROOT = { runAsUser: 0 };
const OTHER = { runAsUser: 1000 };
const NOT_ROOT = { runAsNonRoot: true };

test.each<readonly [pod: object, container: object, what: string, fix: string]>([
  [OTHER, {}, "runAsUser 1000", "set runAsUser: 0"],
  [{}, { ...ROOT, ...NOT_ROOT }, "runAsNonRoot", "take runAsNonRoot off"],
  [NOT_ROOT, ROOT, "runAsNonRoot", "set runAsNonRoot: false in the container"],
  [{}, { ...OTHER, ...NOT_ROOT }, "runAsNonRoot", "take runAsNonRoot off, and set runAsUser: 0"],
])("a pod with %j, a container with %j", (pod, container, what, fix) => {
  expect(saidOf({ pod: { securityContext: pod }, container: { securityContext: container } })).toEqual([
    `CSI108 problem: does not run as root: ${what} -> ${fix}`,
  ]);
});

test.each<readonly [pod: object, container: object, image: string, expected: RegExp]>([
  [
    {},
    NOT_ROOT,
    "registrar:v1",
    /cannot be created: runAsNonRoot, no runAsUser, and the image's user is root -> take/,
  ],
  [NOT_ROOT, NOT_ROOT, "registrar:v1", /cannot be created: .* -> set runAsNonRoot: false in the container$/],
  [NOT_ROOT, {}, "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0", /cannot be created/],
  // Its builder may have set another user.
  [NOT_ROOT, {}, OFFICIAL, /does not run as root: runAsNonRoot/],
])("runAsNonRoot without a user: %j, %j, %s", (pod, container, image, expected) => {
  const found = saidOf({ pod: { securityContext: pod }, container: { image, securityContext: container } });
  expectSaid(found, [`^CSI108 problem: ${expected.source}`]);
});

const arch = (operator: string, ...values: readonly string[]) => ({
  key: "kubernetes.io/arch",
  operator,
  values,
});

test.each<readonly [expected: RegExp | undefined, Changes]>([
  [
    /problem: is for s390x nodes, and this registrar's image is for amd64 and arm64 ->/,
    { pod: { nodeSelector: { "kubernetes.io/arch": "s390x" } } },
  ],
  [/problem: is for arm and ppc64le nodes/, affinity([arch("In", "arm")], [arch("In", "ppc64le")])],
  [
    /warning: may be on ppc64le and s390x nodes, .* may have none/,
    affinity([arch("In", "amd64", "ppc64le", "s390x")]),
  ],
  [/warning: may be on arm nodes/, affinity([arch("In", "arm")], [])],
  [undefined, affinity([arch("In", "amd64", "s390x"), arch("In", "amd64")])],
  [undefined, affinity([arch("NotIn", "s390x")])],
  [undefined, { pod: { nodeSelector: { "kubernetes.io/arch": "{{ .arch }}" } } }],
  [undefined, { ...affinity([arch("In", "s390x")]), container: { image: OFFICIAL } }],
])("an architecture: %s", (expected, changes) => {
  expectSaid(saidOf(changes), expected ? [`^CSI112 ${expected.source}`] : []);
});

const range = (max: object | undefined, byDefault?: object, namespace: string | undefined = "ns") => ({
  kind: "LimitRange",
  metadata: { name: "all", namespace },
  spec: {
    limits: [
      { type: "Pod", max: { memory: "1Mi" } },
      { type: "Container", max, default: byDefault },
    ],
  },
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
const both = (...objects: readonly object[]) => ({ kind: "List", items: objects });
const CPU_LIMIT: Changes = { container: { resources: { limits: { cpu: "1" } } } };

test.each<readonly [expected: string | undefined, Changes, beside: object]>([
  [
    "CSI105 problem: is in a pod with a memory limit of 60Mi: .* -> raise the limit of its pod to 100Mi",
    ofPod({}, { memory: "60Mi" }),
    {},
  ],
  [
    "CSI105 problem: has a memory limit of 70Mi, and its pod allows 66Mi at most: the API server",
    ofPod({ memory: "70Mi" }, { memory: "66Mi" }),
    {},
  ],
  ["CSI114 warning: is in a pod with a CPU limit of 40m: it registers", ofPod({}, { cpu: "40m" }), {}],
  [undefined, ofPod({ memory: "64Mi" }, { memory: "200Mi" }), {}],
  [
    "CSI105 problem: gets a memory limit of 50Mi from LimitRange ns/all: .* -> raise max in LimitRange ns/all to 100Mi",
    {},
    range({ memory: "50Mi" }),
  ],
  [
    "CSI105 problem: gets a memory limit of 32Mi from .* -> raise default in LimitRange ns/all to 100Mi",
    {},
    range({ memory: "1Gi" }, { memory: "32Mi" }),
  ],
  [
    "CSI105 problem: gets a memory limit of 32Mi from .* -> raise default and max in LimitRange ns/all to 100Mi",
    {},
    range({ memory: "50Mi" }, { memory: "32Mi" }),
  ],
  [
    "CSI105 problem: has a memory limit of 32Mi: .* at least 64Mi; raise max in LimitRange ns/all as far$",
    limits("32Mi"),
    range({ memory: "50Mi" }),
  ],
  [
    "CSI105 problem: has a memory limit of 32Mi: .* at least 64Mi; raise the limit of its pod as far$",
    ofPod({ memory: "32Mi" }, { memory: "50Mi" }),
    {},
  ],
  [
    "CSI114 warning: gets a CPU limit of 30m .* -> raise default and max in LimitRange ns/all to 200m",
    {},
    range({ cpu: "40m" }, { cpu: "30m" }),
  ],
  [
    "CSI105 problem: .* LimitRange ns/all, whose default for memory, 100Mi, is above its max, 50Mi: the API server refuses",
    {},
    range({ memory: "50Mi" }, { memory: "100Mi" }),
  ],
  [
    "CSI105 unknown: is in a pod with a memory limit of \\$MEM, which is a template -> render the file",
    ofPod({}, { memory: "$MEM" }),
    {},
  ],
  [
    "CSI105 problem: has a memory limit of 100Mi, and LimitRange ns/all allows 50Mi at most",
    limits("100Mi"),
    range({ memory: "50Mi" }),
  ],
  [
    "CSI105 problem: .* allows 50Mi",
    { ...limits("100Mi"), container: { ...limits("100Mi").container, image: OFFICIAL } },
    range({ memory: "50Mi" }),
  ],
  [undefined, {}, range({ memory: "50Mi" }, undefined, "other")],
  [undefined, { container: { image: OFFICIAL } }, range({ memory: "50Mi" })],
  [undefined, limits("100Mi"), range(undefined, { memory: "10Mi" })],
  [
    "CSI105 warning: may get a lower memory limit from VerticalPodAutoscaler ns/v -> add .* minAllowed: \\{memory: 64Mi",
    limits("100Mi"),
    autoscaler("Recreate"),
  ],
  ["CSI105 warning", limits("100Mi"), autoscaler(undefined, { containerName: "*" })],
  [
    "CSI105 warning: may get a lower memory limit",
    {},
    both(range(undefined, { memory: "100Mi" }), autoscaler("Recreate")),
  ],
  ["CSI114 warning: may get a lower CPU limit .* minAllowed: \\{cpu: 50m", CPU_LIMIT, autoscaler("Recreate")],
  [undefined, limits("100Mi"), autoscaler(false)],
  [undefined, limits("100Mi"), autoscaler("Recreate", { mode: "Off" })],
  [undefined, limits("100Mi"), autoscaler("Recreate", { minAllowed: { memory: "64Mi" } })],
  [undefined, limits("100Mi"), autoscaler("Recreate", { controlledValues: "RequestsOnly" })],
  [undefined, limits("100Mi"), autoscaler("Recreate", { controlledResources: ["cpu"] })],
  [undefined, limits("100Mi"), autoscaler("Recreate", {}, "y")],
  [undefined, {}, autoscaler("Recreate")],
])("limits that the container does not have itself: %s", (expected, changes, beside) => {
  expectSaid(said(daemonSet(changes), CSI_DRIVER, beside), expected ? [`^${expected}`] : []);
});

test.each<Changes>([
  {},
  affinity([ARM, os("In", "windows", "linux")]),
  affinity([os("In", "windows")], [ARM]),
  { pod: { os: { name: "linux" } }, container: { env: [{ name: "X", value: "C:\\x" }] } },
  { args: ["--csi-address=unix:/csi/csi.sock"] },
  { args: ["--v=$(LEVEL)"] },
  limits("64Mi"),
  limits("0"),
  { container: { resources: { limits: { memory: null, cpu: null } } } },
  { container: { resources: { limits: null } } },
  limits("100M"),
  surge(0),
  surge("0%"),
  { container: { ...IN_NODE_IMAGE, ...onStop(["sh", "-c", "sleep 5"]) } },
  {
    pod: { securityContext: { ...OTHER, ...NOT_ROOT } },
    container: { securityContext: { ...ROOT, runAsNonRoot: false } },
  },
])("no fault in %j", (changes) => {
  expect(saidOf(changes)).toEqual([]);
});

const hook = (...command: readonly string[]) => ({
  pod: {
    containers: [
      ...daemonSet().spec.template.spec.containers.slice(0, 1),
      { name: "driver", lifecycle: { preStop: { exec: { command } } } },
    ],
  },
});

test("a hook of another container removes the registration socket", () => {
  expect(saidOf(hook("/bin/sh", "-c", "rm -rf /plugins/x /registration/x-reg.sock"))).toEqual([
    "CSI106 warning: is beside container driver, whose preStop hook removes registration sockets: /bin/sh -c rm -rf /plugins/x /registration/x-reg.sock -> leave them out of the hook: the registrar removes its own",
  ]);
  expect(saidOf(hook("sh", "-c", "rm -f /csi/* && ls /registration/x-reg.sock"))).toEqual([]);
});
