import { neededRules } from "../../../src/node-readiness/node-api";
import { type Changes, CSI_DRIVER, daemonSet, said } from "./one-daemon-set";

const NODE_NAME = { name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } };
const WANTS: Changes = {
  args: ["--remove-startup-taint=x.io/not-ready", "--node-condition=x.io/Ready"],
  container: {},
  pod: { serviceAccountName: "sa" },
};
const RULES = neededRules({ taints: true, condition: true, impersonation: false });

const role = (rules: readonly object[], more = {}) => ({
  kind: "ClusterRole",
  metadata: { name: "r" },
  rules,
  ...more,
});
const binding = (name = "sa") => ({
  kind: "ClusterRoleBinding",
  metadata: { name: "b" },
  roleRef: { kind: "ClusterRole", name: "r" },
  subjects: [{ kind: "ServiceAccount", name, namespace: "ns" }],
});

/** What is said of a registrar with these objects beside it. */
function saidWith(objects: readonly object[], changes: Changes = WANTS) {
  const set = daemonSet({ ...changes, container: { ...changes.container, env: [NODE_NAME] } });
  return said(set, ...objects, CSI_DRIVER);
}

test.each<readonly [expected: string, objects: readonly object[], pod: object]>([
  [
    "CSI116 unknown: needs rights, and no ClusterRoleBinding in these files has ServiceAccount ns/sa -> bind a ClusterRole to it: rules: [{",
    [role(RULES), binding("other")],
    {},
  ],
  ["CSI116 unknown: has rights by a ClusterRole that is not in these files", [binding()], {}],
  ["CSI116 unknown: has rights by a ClusterRole", [binding(), role([], { aggregationRule: {} })], {}],
  [
    'CSI116 problem: lacks rights: no ClusterRole of ServiceAccount ns/sa has them -> add to its rules: [{apiGroups: [""], resources: [nodes], verbs: [patch]}, {apiGroups: [""], resources: [nodes/status], verbs: [patch]}]',
    [role(neededRules({ taints: false, condition: false, impersonation: false })), binding()],
    {},
  ],
  [
    'CSI116 problem: lacks rights: no ClusterRole of ServiceAccount ns/sa has them -> add to its rules: [{apiGroups: [""], resources: [nodes]',
    [role(RULES.map((rule) => ({ ...rule, resourceNames: ["node-1"] }))), binding()],
    {},
  ],
  ["asks the API server, and has no tok", [role(RULES), binding()], { automountServiceAccountToken: false }],
  [
    "CSI116 problem: asks the API server, and has no token",
    [
      role(RULES),
      binding(),
      {
        kind: "ServiceAccount",
        metadata: { name: "sa", namespace: "ns" },
        automountServiceAccountToken: false,
      },
    ],
    {},
  ],
])("%s", (expected, objects, pod) => {
  const lines = saidWith(objects, { ...WANTS, pod: { serviceAccountName: "sa", ...pod } });
  expect(lines).toEqual([expect.stringContaining(expected)]);
});

test.each<readonly [what: string, objects: readonly object[], changes: Changes]>([
  ["exactly the rights", [role(RULES), binding()], WANTS],
  ["more rights", [role([{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]), binding()], WANTS],
  ["a registrar that asks no API server", [], { pod: { automountServiceAccountToken: false } }],
])("no fault in %s", (_what, objects, changes) => {
  expect(saidWith(objects, changes)).toEqual([]);
});
