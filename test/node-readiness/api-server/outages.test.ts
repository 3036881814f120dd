import { eventually } from "../../support/eventually";
import { DRIVER } from "../support/controlled-registrations";
import { FOREIGN_TAINT, IN_TROUBLE, STARTUP_TAINT, WELL_AGAIN } from "../support/fixture";
import { ACCOUNT, startKeeper, useCluster } from "./support/cluster";

const RULES =
  '[{apiGroups: [""], resources: [nodes], verbs: [get, watch, patch]}, ' +
  "{apiGroups: [storage.k8s.io], resources: [csinodes], verbs: [get]}]";

const cluster = useCluster();
beforeEach(async () => {
  await cluster.writeCsiNode("node-1", [DRIVER]);
  await cluster.setTaints("node-1", [FOREIGN_TAINT, STARTUP_TAINT]);
});

const taints = async () => (await cluster.node("node-1")).taints;

test("the API server is killed and comes back: told once, the watch goes on, what is due is done", async () => {
  await using keeper = await startKeeper(cluster);
  const { apiServer, ready } = cluster.controlPlane;
  await eventually(() => expect(keeper.readiness.status().taints[0]?.present).toBe(true));
  await apiServer.kill();
  keeper.registrations.set("registered");
  const { fields } = await keeper.log.when(IN_TROUBLE);
  expect(fields).toMatchObject({ check: expect.stringContaining("does the API server run") });
  await eventually(() => expect(keeper.readiness.status().api.failures.unreachable).toBeGreaterThan(3));
  await apiServer.start();
  await ready();
  await keeper.log.when("Startup taint removed");
  await keeper.log.when(WELL_AGAIN);
  expect(keeper.readiness.status().api.trouble).toBeUndefined();
  expect(keeper.log.all(IN_TROUBLE).length).toBeLessThan(4);

  await cluster.setTaints("node-1", [STARTUP_TAINT]);
  await keeper.log.when("Startup taint removed", 2);
});

test("without its role it says which rules are missing; with these, as it says them, it goes on", async () => {
  const { kubectl } = cluster.controlPlane;
  await kubectl("delete", "clusterrole", ACCOUNT);
  await using keeper = await startKeeper(cluster);
  keeper.registrations.set("registered");
  const { fields } = await keeper.log.when(IN_TROUBLE);
  expect(fields.check).toContain(RULES);
  await eventually(() => expect(keeper.readiness.status().api.failures.forbidden).toBeGreaterThan(3));
  expect(keeper.log.all(IN_TROUBLE)).toHaveLength(1);

  await cluster.apply(
    `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: ${ACCOUNT}}\nrules: ${RULES}\n`,
  );
  await keeper.log.when("Startup taint removed");
  await keeper.log.when(WELL_AGAIN);
});

test("the policy refuses: told as a matter of the policy, and nothing is lost", async () => {
  await using keeper = await startKeeper(cluster, { access: await cluster.accessFrom("node-2") });
  keeper.registrations.set("registered");
  const { fields } = await keeper.log.when(IN_TROUBLE);
  expect(fields.err).toContain("a registrar may change its own node only");
  expect(fields.check).toContain("is the pod's token bound to node node-1");
  expect(await taints()).toContainEqual(STARTUP_TAINT);
});

test("a node that is not there: told with what to check, and looked after once it is", async () => {
  await using keeper = await startKeeper(cluster, { nodeName: "node-3" });
  const { fields } = await keeper.log.when(IN_TROUBLE);
  expect(fields.check).toContain('is there a Node "node-3"? Its name must be');
  await cluster.createNode("node-3");
  await keeper.log.when(WELL_AGAIN);
});
