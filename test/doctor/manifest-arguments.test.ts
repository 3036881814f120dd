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
  ["a bad endpoint", /^CSI101 problem: .*not a listen address/, { args: ["--http-endpoint=x"] }],
  ["no path", /^CSI101 problem: .*required parameter/, { args: ["--kubelet-registration-path="] }],
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
