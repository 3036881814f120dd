import { type Changes, CSI_DRIVER, daemonSet, said } from "./one-daemon-set";

test.each<readonly [what: string, expected: RegExp, Changes]>([
  [
    "a misspelt flag",
    /^CSI101 problem: does not start: flag provided but not defined: -nope/,
    { args: ["--nope"] },
  ],
  [
    "a flag that is nearly one",
    /^CSI101 problem: .*not defined: -csi-adress -> correct that argument: did you mean --csi-address\?$/,
    { args: ["--csi-adress=/x"] },
  ],
  [
    "a startup taint on a node without a name",
    /^CSI101 problem: .*need the node's name -> add to its env: \{name: NODE_NAME, .*spec\.nodeName/,
    {
      args: ["--remove-startup-taint=x.csi/agent-not-ready"],
      container: { env: [{ name: "NODE_NAME", value: "" }] },
    },
  ],
  [
    "a node condition on a node without a name",
    /^CSI101 problem: .*need the node's name/,
    { args: ["--node-condition=x.csi/Registered"] },
  ],
  [
    "a flag of ours, left behind in the official registrar's container",
    /^CSI101 problem: does not start: flag provided but not defined: -require-driver -> take --require-driver out, or/,
    { args: ["--require-driver"], container: { image: "x/csi-node-driver-registrar:v2.17.0@sha256:0" } },
  ],
  [
    "klog's flags at a release that may have them",
    /^CSI101 unknown: starts or not: the official registrar has --logtostderr before v2\.11 only/,
    { args: ["--logtostderr"], container: { image: "x/csi-node-driver-registrar@sha256:0" } },
  ],
  ["a bad endpoint", /^CSI101 problem: .*not a listen address/, { args: ["--http-endpoint=x"] }],
  ["no path", /^CSI101 problem: .*required parameter/, { args: ["--kubelet-registration-path="] }],
  [
    "a path behind a word",
    /^CSI101 problem: does not start: .* required parameter, and all from the word true on is ignored -> write --enable-pprof=true$/,
    {
      container: { args: ["--enable-pprof", "true", "--kubelet-registration-path=/x"] },
    },
  ],
  [
    "a flag behind a word",
    /^CSI101 warning: ignores all from the word register on: register --timeout=3s -> take register out$/,
    { args: ["--v=2", "register", "--timeout=3s"] },
  ],
  [
    "a number",
    /^CSI101 problem: has 5 in args, which is not a string: the API server refuses it -> quote it: "5"$/,
    { args: ["-v", 5] },
  ],
  [
    "a number in the command",
    /^CSI101 problem: has 5 in command, which is not a string/,
    { container: { command: ["/registrar", "-v", 5] } },
  ],
  [
    "a switch in the environment",
    /^CSI101 problem: has true as value of SWITCH, which is not a string: .* -> quote it: "true"$/,
    { container: { env: [{ name: "SWITCH", value: true }, { name: "EMPTY" }] } },
  ],
])("%s", (_what, expected, changes) => {
  expect(said(daemonSet(changes), CSI_DRIVER)).toEqual([expect.stringMatching(expected)]);
});

test.each([
  [["--node-name=n1"], {}],
  [[], { env: [{ name: "KUBE_NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }] }],
  [[], { envFrom: [{ configMapRef: { name: "node" } }] }],
])("a startup taint is no problem where something says the node's name: %j %j", (args, container) => {
  const words = ["--remove-startup-taint=x.csi/agent-not-ready", ...args];
  expect(said(daemonSet({ args: words, container }), CSI_DRIVER)).toEqual([]);
});

test.each(["rancher/mirrored-csi-node-driver-registrar:v2.9.0-eks-1", "node-driver-registrar/ours:v1"])(
  "klog's flags are no problem at %s",
  (image) => {
    expect(said(daemonSet({ args: ["--logtostderr"], container: { image } }), CSI_DRIVER)).toEqual([]);
  },
);

const elsewhere = (name: string) => ({
  name,
  valueFrom: { configMapKeyRef: { name: "settings", key: name } },
});

test.each<readonly [args: readonly string[], container: object, variable: string]>([
  [["--csi-address=$(ADDRESS)"], { env: [elsewhere("ADDRESS")] }, "ADDRESS"],
  [["--kubelet-registration-path=$(ROOT)/plugins/x/csi.sock"], { env: [elsewhere("ROOT")] }, "ROOT"],
  [["--timeout=$(TIMEOUT)", "--node-name=$(NODE)"], { envFrom: [{ configMapRef: {} }] }, "TIMEOUT"],
])("what %j come to is unknown where they are filled in from elsewhere", (args, container, variable) => {
  expect(said(daemonSet({ args, container }), CSI_DRIVER)).toEqual([
    `CSI101 unknown: takes $(${variable}) from elsewhere: what the arguments come to is not seen here -> run registrar doctor in the pod, or see the log of its start`,
  ]);
});

test("a variable from elsewhere that is no path is no reason to judge nothing", () => {
  const container = { env: [elsewhere("POD_IP")] };
  expect(said(daemonSet({ args: ["--http-endpoint=$(POD_IP):9809"], container }), CSI_DRIVER)).toEqual([]);
  const args = ["--http-endpoint=$(POD_IP):9809", "--nope=$(POD_IP)"];
  expect(said(daemonSet({ args, container }), CSI_DRIVER)[0]).toMatch(/CSI101 problem: .*not defined: -nope/);
});

test("a variable that is nowhere stays as it is in the container, too", () => {
  const args = ["--csi-address=$(ADDRESS)"];
  expect(said(daemonSet({ args }), CSI_DRIVER)).toEqual([
    expect.stringMatching(/^CSI101 problem: does not start: csi-address is "\$\(ADDRESS\)"/),
  ]);
});

test.each([
  ["the shell", ["/bin/sh", "-c"], ["/csi-node-driver-registrar --csi-address=/csi/csi.sock"]],
  ["a script", ["/start.sh"], ["--nope", "--kubelet-registration-path=/csi/x.sock"]],
  ["a wrapper", ["/tini", "--", "/csi-node-driver-registrar", "--nope"], []],
  ["what is filled in", ["$(PROGRAM)"], ["--nope"]],
])(
  "what %s makes of arguments is unknown, and nothing is said of paths and probes",
  (_what, command, args) => {
    const container = {
      image: "x/csi-node-driver-registrar:v2.17.0",
      command,
      args,
      volumeMounts: [],
      livenessProbe: { httpGet: { port: 2 } },
    };
    const [program] = command;
    expect(said(daemonSet({ container }), CSI_DRIVER)).toEqual([
      `CSI101 unknown: is started by ${program}: what that makes of the arguments is not seen here -> have the registrar itself as command, or none`,
    ]);
  },
);

test.each([
  [["/csi-node-driver-registrar", "--nope"]],
  [["C:\\bin\\csi-node-driver-registrar.exe", "--nope"]],
  [["/usr/local/bin/registrar", "--nope"]],
  [["/nodejs/bin/node", "/registrar/cli.js", "--nope"]],
  [["node", "node_modules/.bin/registrar", "--nope"]],
])("a registrar's own arguments are judged: %j", (command) => {
  expect(said(daemonSet({ container: { command } }), CSI_DRIVER)).toEqual([
    expect.stringMatching(/^CSI101 problem: .*-nope/),
  ]);
});

test.each(["registrar", "example.com/registrar:v0.1.0", "localhost:5000/x/registrar@sha256:0"])(
  "our own image needs no arguments to be known: %s",
  (image) => {
    const bare = { image, args: [] };
    const noPath = [expect.stringMatching(/^CSI101 problem: .*required parameter/)];
    const elsewhere = { name: "x", volumeMounts: [{ name: "plugin", mountPath: "/csi" }] };
    expect(said(daemonSet({ container: { ...bare, name: "x" } }), CSI_DRIVER)).toEqual(noPath);
    expect(
      said(daemonSet({ container: { ...bare, ...elsewhere, name: "my-registrar" } }), CSI_DRIVER),
    ).toEqual(expect.arrayContaining(noPath));
    expect(said(daemonSet({ container: { ...bare, ...elsewhere } }), CSI_DRIVER)).toEqual([]);
  },
);

test.each(["registry:2", "example.com/registrar/other:v1", "my-registrar:v1"])(
  "%s is no registrar",
  (image) => {
    expect(said(daemonSet({ container: { image, args: [] } }), CSI_DRIVER)).toEqual([]);
  },
);
