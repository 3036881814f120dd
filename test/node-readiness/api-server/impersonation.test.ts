import type { ApiAccess } from "../../../src/kube-api/access";
import { type ApiCall, createApiClient } from "../../../src/kube-api/client";
import { nodeUser } from "../../../src/node-readiness/node-api";
import { eventually } from "../../support/eventually";
import { runCommand } from "../../support/run-command";
import { DRIVER } from "../support/controlled-registrations";
import { FOREIGN_TAINT, STARTUP_TAINT } from "../support/fixture";
import { ACCOUNT, startKeeper, useCluster } from "./support/cluster";
import { condition, merge, onStatus } from "./support/patch-node";

// Constrained impersonation (KEP-5284): the registrar asks as its own node, and no admission policy is there.

const TYPE = `${DRIVER}/Registered`;
const cluster = useCluster(async ({ controlPlane, apply }) => {
  const images = ["--image=registrar:v1", "--driver-image=driver:v1", `--name=${ACCOUNT}`];
  const access = ["--node-condition={driver}/Registered", "--node-access=impersonation"];
  const { stdout } = await runCommand("manifest", `--driver-name=${DRIVER}`, ...images, ...access);
  await controlPlane.kubectl("delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", ACCOUNT);
  await apply(stdout);
});

/** What the API server answers a pod on node-1 that asks as `user`: `done`, or the kind of its failure and its words. */
async function ask(call: ApiCall, user: string | undefined = nodeUser("node-1"), access?: ApiAccess) {
  const client = createApiClient(access ?? (await cluster.accessFrom("node-1")), user);
  const answer = await client.call(call, new AbortController().signal);
  client.close();
  return answer.kind === "done" ? "done" : `${answer.failure.kind}: ${answer.failure.message}`;
}
const get = (path: string): ApiCall => ({ method: "GET", path });
const patch = (path: string, body: object, type = merge.type): ApiCall => ({
  method: "PATCH",
  path,
  body,
  contentType: `application/${type}+json`,
});
const NODE = "/api/v1/nodes/node-1";
const CSI_NODES = "/apis/storage.k8s.io/v1/csinodes";

test("the registrar watches its Node, reads CSINode and keeps its condition, beside kubelet's own", async () => {
  await cluster.writeStatus("node-1", condition("Ready").status);
  await cluster.writeCsiNode("node-1", [DRIVER]);
  const options = { condition: "{driver}/Registered", conditionDelayMs: 0, startupTaints: [] };
  await using keeper = await startKeeper(cluster, { ...options, impersonateNode: true });
  const own = async () => (await cluster.node("node-1")).conditions.find(({ type }) => type === TYPE);
  // RBAC takes up a new role a moment after it is stored.
  keeper.registrations.set("registered");
  await eventually(async () => expect(await own()).toMatchObject({ status: "True", reason: "Registered" }));
  keeper.registrations.set("refused");
  await eventually(async () => expect(await own()).toMatchObject({ status: "False", reason: "Refused" }));
  // The watch sees what another client changed, and the keeper corrects it.
  await cluster.writeStatus("node-1", condition(TYPE).status);
  await eventually(async () => expect(await own()).toMatchObject({ status: "False", reason: "Refused" }));
  expect((await cluster.node("node-1")).conditions.map(({ type }) => type)).toContain("Ready");
  expect(keeper.readiness.status().api.trouble).toBeUndefined();
});

const LABEL = patch(NODE, { metadata: { labels: { pool: "x" } } });
const TAINTS = patch(NODE, [{ op: "remove", path: "/spec/taints/0" }], "json-patch");
const OTHERS_STATUS = patch("/api/v1/nodes/node-2/status", condition(TYPE));
const WATCH = get("/api/v1/nodes?watch=true&timeoutSeconds=1");

test.each<[what: string, ApiCall, RegExp, user?: string]>([
  ["itself: its Node", get(NODE), /^forbidden: nodes "node-1" is forbidden: User "system:serviceaccount/, ""],
  ["another node", get("/api/v1/nodes/node-2"), /^forbidden: .*impersonate/, nodeUser("node-2")],
  ["another user", get(NODE), /^forbidden: .*impersonate/, "admin"],
  ["its node: all", get("/api/v1/nodes"), /^forbidden: .*impersonate-on:associated-node:list/],
  ["its node: all as they change", WATCH, /^forbidden: .*cannot read all nodes, only its own Node/],
  ["its node: another Node's status", OTHERS_STATUS, /not allowed to modify/],
  ["its node: another CSINode", get(`${CSI_NODES}/node-2`), /^forbidden: /],
  ["its node: a label", LABEL, /impersonate-on:associated-node:patch/],
  ["its node: its taints", TAINTS, /^forbidden: /],
  ["its node: secrets", get("/api/v1/namespaces/kube-system/secrets"), /^forbidden: /],
])("is refused, asked as %s", async (_what, call, refusal, user = nodeUser("node-1")) => {
  await cluster.setTaints("node-1", [FOREIGN_TAINT, STARTUP_TAINT]);
  expect(await ask(call, user)).toMatch(refusal);
});

test("even with the right to patch Nodes a node removes no taint of its own", async () => {
  const rule = `{apiGroups: [""], resources: [nodes], verbs: ["impersonate-on:associated-node:patch"]}`;
  const head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ";
  const subject = `{kind: ServiceAccount, name: ${ACCOUNT}, namespace: kube-system}`;
  const ref = "{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: more}";
  await cluster.apply(
    `${head}ClusterRole\nmetadata: {name: more}\nrules: [${rule}]\n---\n` +
      `${head}ClusterRoleBinding\nmetadata: {name: more}\nroleRef: ${ref}\nsubjects: [${subject}]\n`,
  );
  await cluster.setTaints("node-1", [STARTUP_TAINT]);
  const removal = patch(NODE, [{ op: "remove", path: "/spec/taints/0" }], "json-patch");
  await eventually(async () => expect(await ask(removal)).toMatch(/is not allowed to modify taints/));
  await cluster.controlPlane.kubectl("delete", "clusterrolebinding,clusterrole", "more");
});

test("a token that is bound to no pod is refused", async () => {
  const access = await cluster.accessFrom("node-1");
  const token = await cluster.controlPlane.kubectl("create", "token", ACCOUNT, "--namespace=kube-system");
  const unbound = { ...access, token: { kind: "value", value: token.trim() } } as const;
  expect(await ask(get(NODE), undefined, unbound)).toMatch(/^forbidden: .*impersonate/);
});

test("what the policy forbids and impersonation allows: the rest of its own Node's status", async () => {
  const capacity = { status: { capacity: { "example.com/x": "64" } } };
  expect(await ask(patch(`${NODE}/status`, capacity, onStatus.type))).toBe("done");
  expect(await ask(patch(`${NODE}/status`, condition("Ready"), onStatus.type))).toBe("done");
});
