import { neededRules } from "../../../../src/node-readiness/node-api";
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
const binding = (name = "sa", kind = "ServiceAccount") => ({
  kind: "ClusterRoleBinding",
  metadata: { name: "b" },
  roleRef: { kind: "ClusterRole", name: "r" },
  subjects: [{ kind, name, namespace: "ns" }],
});

/** What is said of a registrar with these objects beside it. */
function saidWith(objects: readonly object[], changes: Changes = WANTS) {
  const set = daemonSet({ ...changes, container: { ...changes.container, env: [NODE_NAME] } });
  return said(set, ...objects, CSI_DRIVER);
}

const LACKS = "lacks rights: no ClusterRole of ServiceAccount ns/sa";
const FIX = "has them -> bind a ClusterRole with these rules to it";
const NO_TOKEN = { automountServiceAccountToken: false };
const ACCOUNT = { kind: "ServiceAccount", metadata: { name: "sa", namespace: "ns" }, ...NO_TOKEN };

test.each<readonly [expected: string, objects: readonly object[], pod: object]>([
  [`unknown: ${LACKS} in these files ${FIX}: [{`, [role(RULES), binding("other")], {}],
  [`unknown: ${LACKS} in these files ${FIX}`, [binding()], {}],
  [`unknown: ${LACKS} in these files ${FIX}`, [binding(), role([], { aggregationRule: {} })], {}],
  [
    `problem: ${LACKS} ${FIX}: [{apiGroups: [""], resources: [nodes], verbs: [patch]}, {apiGroups: [""], resources: [nodes/status], verbs: [patch]}]`,
    [role(neededRules({ taints: false, condition: false, impersonation: false })), binding()],
    {},
  ],
  [`problem: ${LACKS}`, [role(RULES.map((rule) => ({ ...rule, resourceNames: ["n"] }))), binding()], {}],
  ["problem: asks the API server, and has no token", [role(RULES), binding()], NO_TOKEN],
  ["problem: asks the API server, and has no token", [role(RULES), binding(), ACCOUNT], {}],
])("%s", (expected, objects, pod) => {
  const lines = saidWith(objects, { ...WANTS, pod: { serviceAccountName: "sa", ...pod } });
  expect(lines).toEqual([expect.stringContaining(`CSI116 ${expected}`)]);
});

test.each<readonly [what: string, objects: readonly object[], changes: Changes]>([
  ["exactly the rights", [role(RULES), binding()], WANTS],
  ["the rights of all accounts", [role(RULES), binding("system:serviceaccounts", "Group")], WANTS],
  ["more rights", [role([{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]), binding()], WANTS],
  ["a registrar that asks no API server", [], { pod: NO_TOKEN }],
])("no fault in %s", (_what, objects, changes) => {
  expect(saidWith(objects, changes)).toEqual([]);
});
