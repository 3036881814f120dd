import { type Changes, daemonSet, expectSaid, said, saidOf } from "./one-daemon-set";

/** The package, in another image. */
const IN_NODE_IMAGE = { image: "node:24", command: ["node", "/node_modules/registrar/dist/cli.js"] };
const update = (rollingUpdate: object, type: string | undefined = "RollingUpdate"): Changes => ({
  spec: { updateStrategy: { type, rollingUpdate } },
});
const surge = (maxSurge: unknown, type?: string) => update({ maxSurge }, type);

const [registrar] = daemonSet().spec.template.spec.containers;
/** A pod with these, all but the first with the volume of the socket. */
const mounted = (others: readonly object[], pod: object = {}) => {
  const volumeMounts = [{ name: "plugin", mountPath: "/csi" }];
  return {
    containers: [
      registrar,
      ...others.map((one) => ({ name: "beside", args: ["--endpoint=/csi/csi.sock"], volumeMounts, ...one })),
    ],
    ...pod,
  };
};

test("a driver's pods that are updated with maxSurge", () => {
  expectSaid(saidOf({ ...surge("10%"), pod: mounted([{ name: "driver" }]) }), [
    /^CSI107 problem: updates with maxSurge 10%/,
  ]);
  expectSaid(saidOf(surge(1, "OnDelete")), []);
  expectSaid(saidOf(surge(0, "<type>")), []);
  expectSaid(saidOf(surge(1, "<type>")), [
    /^CSI107 unknown: updates with values that are not filled in: <type> -> render the file first$/,
  ]);
});

test.each<readonly [what: string, pod: object, status: string | undefined]>([
  ["a livenessprobe", mounted([{ args: ["--csi-address=/csi/csi.sock"] }]), undefined],
  ["an init container", mounted([], { initContainers: [{ name: "prep" }] }), undefined],
  ["a container without its socket", mounted([{ args: [], volumeMounts: [] }]), "unknown"],
  [
    "a native sidecar",
    { initContainers: [{ ...mounted([{}]).containers[1], restartPolicy: "Always" }] },
    "problem",
  ],
])("pods that are updated with maxSurge, and have %s", (_what, pod, status) => {
  const { containers } = mounted([]);
  const said = saidOf({ ...update({ maxSurge: 1, maxUnavailable: 0 }), pod: { containers, ...pod } });
  expectSaid(said, status === undefined ? [] : [`^CSI107 ${status}: updates with maxSurge 1, and `]);
});

test("an unknown program may be a driver, too", () => {
  const aloneOf = (image: string) => {
    const alone = daemonSet(surge(1));
    const [registrar] = alone.spec.template.spec.containers;
    alone.spec.template.spec.containers = [{ ...registrar, image }] as never;
    return said(alone).filter((line) => line.startsWith("CSI107"));
  };
  expect(aloneOf("x/y:v1")).toEqual([
    "CSI107 unknown: updates with maxSurge 1, and whether its pods have a driver is not known -> if so, set maxSurge: 0, and maxUnavailable: 1",
  ]);
  expect(aloneOf("registrar:v1")).toEqual([expect.stringMatching(/^CSI107 problem: is refused/)]);
});

test.each<[expected: RegExp | undefined, rollingUpdate: object, type?: string]>([
  [undefined, {}],
  [undefined, { maxUnavailable: "10%" }],
  [undefined, { maxSurge: 1, maxUnavailable: 0 }],
  [undefined, { maxSurge: 0, maxUnavailable: 0 }, "OnDelete"],
  [
    /^CSI107 problem: is refused by the API server: maxUnavailable cannot be 0 when maxSurge is 0 -> set maxUnavailable: 1$/,
    { maxSurge: 0, maxUnavailable: 0 },
  ],
  [/^CSI107 problem: .* cannot be 0/, { maxUnavailable: "0%" }],
  [
    /^CSI107 problem: is refused by the API server: maxSurge may not be set when maxUnavailable is non-zero -> set maxUnavailable: 0$/,
    { maxSurge: 1 },
  ],
  [/^CSI107 unknown: updates with values that are not filled in: <n> -> render/, { maxUnavailable: "<n>" }],
  [/^CSI107 unknown/, { maxSurge: "<n>" }],
  [/^CSI107 unknown/, { maxSurge: 0, maxUnavailable: 0 }, "<type>"],
])("an update that the API server refuses: %s, %j", (expected, rollingUpdate, ...type) => {
  // A registrar alone, as that of all drivers.
  const alone = daemonSet(update(rollingUpdate, ...(type as readonly string[])));
  alone.spec.template.spec.containers.pop();
  expectSaid(said(alone), expected === undefined ? [] : [expected]);
});

const [NO_PERCENT, NEGATIVE] = ["a valid percent string must be", "must be greater than or equal to 0"];

const TOO_MANY = "must not be greater than 100%";
const NUMBER = "write a whole number from 0 on, or a percentage up to 100%, such as 10%";

// By ValidateRollingUpdateDaemonSet (pkg/apis/apps/validation), IsValidPercent, and IntOrString's own reader.
test.each<[refusal: string, fix: string, values: readonly unknown[]]>([
  ["", "", [0, 1, 2 ** 31 - 1, "0%", "100%", "0100%", null]],
  [NO_PERCENT, NUMBER, ["zz", "", "%", "-1%", "1.5%", " 1%", "1% ", "+1%", "-1"]],
  [NO_PERCENT, "write 1 without quotes", ["1"]],
  [NEGATIVE, NUMBER, [-1, -0.5]],
  [TOO_MANY, NUMBER, ["101%", "150%"]],
  ["is not an int32", NUMBER, [1.5, 2 ** 31]],
])("values of maxSurge and maxUnavailable that the API server refuses: %j", (refusal, fix, values) => {
  const invalid = (rollingUpdate: object) =>
    saidOf(update(rollingUpdate)).filter((one) => one.includes("Invalid"));
  for (const value of values) {
    const refused = (field: string) =>
      expect.stringMatching(`^CSI107 problem: is refused by the API server: ${field}: Invalid value: `);
    const said = (...fields: readonly string[]) => (refusal === "" ? [] : fields.map(refused));
    const both = invalid({ maxSurge: value, maxUnavailable: value });
    expect(both).toEqual(said("maxSurge", "maxUnavailable"));
    for (const one of both) {
      expect(one).toContain(`: Invalid value: ${JSON.stringify(value)}: ${refusal}`);
      expect(one).toContain(` -> ${fix}`);
    }
    expect(invalid({ maxSurge: value })).toEqual(said("maxSurge"));
    expect(invalid({ maxUnavailable: value })).toEqual(said("maxUnavailable"));
  }
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
  { command: ["C:\\registrar.exe"] },
  { command: ["registrar.exe"], pod: { os: { name: "{{ .Values.os }}" } } },
  { args: ["--csi-address=unix://C:\\\\csi\\\\csi.sock"] },
  { env: [{ name: "PATH", value: "C:/csi" }] },
  { volumeMounts: [{ name: "plugin", mountPath: "C:\\csi" }] },
])("%j, which is for Windows, has no other finding", (changes) => {
  expectSaid(saidOf({ more: ["--nope"], ...changes }), [/^CSI112 problem: is for Windows nodes/]);
});

test("nodes with Windows, or what a placeholder stands for, may be nodes with Linux", () => {
  expectSaid(saidOf(affinity([os("In", "windows", "{{ .Values.os }}")])), [
    /^CSI112 unknown: .* not filled in/,
  ]);
});

test.each<Changes>([
  { pod: { securityContext: { windowsOptions: null }, nodeSelector: null } },
  { pod: { securityContext: null, os: null } },
  { securityContext: { windowsOptions: null } },
  { env: [{ name: "FLAG", value: "--nope", valueFrom: null }], more: ["$(FLAG)"] },
])("a field that is null is absent: %j", (changes) => {
  expectSaid(saidOf({ more: ["--nope"], ...changes }), [/^CSI101 problem: does not start: .* -nope/]);
});

test("a patch is not judged", () => {
  expectSaid(saidOf({ more: ["--nope"], spec: { selector: null } }), [
    /^CSI113 unknown: cannot be judged: it has no selector, .*kubectl kustomize/,
  ]);
});

const ROOT = { runAsUser: 0 };
const OTHER = { runAsUser: 1000 };
const NOT_ROOT = { runAsNonRoot: true };

test.each<readonly [pod: object, container: object, what: string]>([
  [OTHER, {}, "runAsUser 1000"],
  [OTHER, { runAsUser: null }, "runAsUser 1000"],
  [{}, { ...ROOT, ...NOT_ROOT }, "runAsNonRoot"],
  [NOT_ROOT, {}, "runAsNonRoot"],
  [{}, { ...OTHER, ...NOT_ROOT }, "runAsNonRoot"],
])("a pod with %j, a container with %j", (pod, container, what) => {
  expect(saidOf({ pod: { securityContext: pod }, securityContext: container })).toEqual([
    `CSI108 problem: does not run as root: ${what} -> set runAsUser: 0 and runAsNonRoot: false in the container`,
  ]);
});

test.each<Changes>([
  {},
  affinity([ARM, os("In", "windows", "linux")]),
  affinity([os("In", "windows")], [ARM]),
  { pod: { os: { name: "linux" } }, env: [{ name: "X", value: "C:\\x" }] },
  { more: ["--csi-address=unix:/csi/csi.sock", "--v=$(LEVEL)"], env: [{ name: "LEVEL", value: "2" }] },
  { more: ["--csi-address=/csi/csi.sock", `--v=\${LEVEL}`] },
  surge(0),
  surge("0%"),
  IN_NODE_IMAGE,
  { pod: { securityContext: { ...OTHER, ...NOT_ROOT } }, securityContext: { ...ROOT, runAsNonRoot: false } },
])("no fault in %j", (changes) => {
  expect(saidOf(changes)).toEqual([]);
});
