import {
  lookAtNodeReadiness,
  type NodeReadinessTarget,
} from "../../../src/tools/doctor/node/read/node-readiness";
import { eventually } from "../../support/eventually";
import { healthyFacts, sayings } from "../../tools/doctor/node/healthy-facts";
import { FOREIGN_TAINT } from "../support/fixture";
import { ACCOUNT, useCluster } from "./support/cluster";

const cluster = useCluster();

/** The driver that is registered in a healthy node's facts. */
const TAINT = { key: "x.csi/agent-not-ready", effect: "NoSchedule" };

/** What doctor says with the token of a pod on node-1: `status: subject text; fix: fix`. */
async function doctor(changes: Partial<NodeReadinessTarget> = {}): Promise<readonly string[]> {
  const target: NodeReadinessTarget = {
    startupTaints: [{ key: "{driver}/agent-not-ready", effect: undefined }],
    hasCondition: true,
    impersonatesNode: false,
    nodeName: { kind: "known", name: "node-1" },
    access: { kind: "known", access: await cluster.accessFrom("node-1") },
    ...changes,
  };
  const facts = healthyFacts({ facts: { nodeReadiness: await lookAtNodeReadiness(target) } });
  return sayings("node-readiness", facts);
}

test("with what manifest writes it finds the rights enough, and says of each taint whether it should be on", async () => {
  await cluster.setTaints("node-1", [FOREIGN_TAINT]);
  const rights =
    "ok: the service account may do what is needed: " +
    "get nodes, watch nodes, patch nodes, patch nodes/status, get csinodes";
  expect(await doctor()).toEqual([rights, "ok: node-1 has no startup taint of a driver that is here"]);
  await cluster.setTaints("node-1", [FOREIGN_TAINT, TAINT]);
  await cluster.writeCsiNode("node-1", []);
  expect((await doctor())[1]).toMatch(/^ok: node-1 has .* as it should: CSINode does not list x\.csi yet/);
  await cluster.writeCsiNode("node-1", ["x.csi"]);
  expect((await doctor())[1]).toMatch(/^problem: node-1 has .* taint x\.csi\/agent-not-ready:NoSchedule/);
});

test("without the role it names each right that is missing, and the rules that give them are enough", async () => {
  const { kubectl } = cluster.controlPlane;
  await kubectl("delete", "clusterrole", ACCOUNT);
  const found = await eventually(async () => {
    const said = await doctor();
    expect(said[0]).toMatch(/^problem/);
    return said;
  });
  expect(found[0]).toContain("may not get nodes, watch nodes, patch nodes, patch nodes/status, get csinodes");
  expect(found[1]).toMatch(/^unknown: node-1 may not be read/);
  const [rules] = /\[\{.*\}\]/.exec(found[0] ?? "") ?? [];
  await cluster.apply(
    `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: ${ACCOUNT}}\nrules: ${rules}\n`,
  );
  await eventually(async () => expect((await doctor())[0]).toMatch(/^ok: the service account may do/));
});
