import { type Changes, daemonSet, expectSaid, OFFICIAL, said, saidOf } from "./one-daemon-set";

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
  [/^CSI105 problem: has a memory limit of -100Mi, which is negative: the API server/, limits("-100Mi")],
  [/^CSI105 problem: has a memory limit of "", which is not a quantity: the API server refuses/, limits("")],
  [/^CSI105 .* "10Mi", which is not a map: .* -> write/, { container: { resources: { limits: "10Mi" } } }],
  [/^CSI105 problem: has resources\.limits \[\], which/, { container: { resources: { limits: [] } } }],
  [/^CSI106 warning: .* always fails, .* has no shell: .*rm -rf/, { container: onStop(command) }],
  [/^CSI106 warning: .* always fails, .*: sh -c sleep 5/, { container: onStop(["sh", "-c", "sleep 5"]) }],
  [/^CSI106 warning: .* removes files: .*rm -rf/, { container: { ...IN_NODE_IMAGE, ...onStop(command) } }],
  [/^CSI106 warning: .* removes files: .*rm -rf/, { container: { image: OFFICIAL, ...onStop(command) } }],
  [/^CSI107 problem: updates with maxSurge 10%/, surge("10%")],
])("%s", (expected, changes) => {
  expectSaid(saidOf(changes), [expected]);
});

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
  // Piraeus': a file with names and tags.
  {
    kind: "ConfigMap",
    data: { "0.yaml": "components:\n  a:\n    tag: v1\n    image: csi-node-driver-registrar\n" },
  },
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
  [{}, NOT_ROOT, "registrar:v1", /cannot be created: runAsNonRoot, .*, and the image's user is root -> take/],
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
    /problem: .* s390x nodes, .*amd64 and arm64/,
    { pod: { nodeSelector: { "kubernetes.io/arch": "s390x" } } },
  ],
  [/problem: is for arm and ppc64le nodes/, affinity([arch("In", "arm")], [arch("In", "ppc64le")])],
  [/warning: .* ppc64le and s390x nodes, .* none/, affinity([arch("In", "amd64", "ppc64le", "s390x")])],
  [/warning: may be on arm nodes/, affinity([arch("In", "arm")], [])],
  [undefined, affinity([arch("In", "amd64", "s390x"), arch("In", "amd64")])],
  [undefined, affinity([arch("NotIn", "s390x")])],
  [/problem: is for other nodes, and this/, affinity([arch("NotIn", "amd64"), arch("NotIn", "arm64")])],
  [/problem: is for s390x nodes/, affinity([arch("In", "amd64", "s390x"), arch("NotIn", "amd64")])],
  [undefined, { pod: { nodeSelector: { "kubernetes.io/arch": "{{ .arch }}" } } }],
  [undefined, { ...affinity([arch("In", "s390x")]), container: { image: OFFICIAL } }],
])("an architecture: %s", (expected, changes) => {
  expectSaid(saidOf(changes), expected ? [`^CSI112 ${expected.source}`] : []);
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
