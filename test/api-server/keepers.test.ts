import { DRIVER } from "../node-readiness/support/controlled-registrations";
import { FOREIGN_TAINT, STARTUP_TAINT, startReadiness } from "../node-readiness/support/fixture";
import { eventually } from "../support/eventually";
import { useCluster } from "./support/cluster";

const cluster = useCluster();
const taints = async () => (await cluster.node("node-1")).taints;

test("two removers and a rude third that rewrites all taints, 200 rounds: nothing lost, nothing brought back", async () => {
  const other = "other.csi.example.com";
  const otherTaint = { key: `${other}/agent-not-ready`, effect: "NoExecute" };
  const pace = { taint: { unlisted: { initialMs: 50, maxMs: 50 }, fight: { initialMs: 1, maxMs: 1 } } };
  const access = cluster.accessBy(cluster.controlPlane.adminToken);
  await cluster.writeCsiNode("node-1", [DRIVER, other]);
  const options = { startupTaints: ["{driver}/agent-not-ready"], pace };
  await using ours = startReadiness({ ...options, access: await cluster.accessFrom("node-1") });
  await using theirs = startReadiness({ ...options, access });
  theirs.registrations.remove(DRIVER);
  ours.registrations.set("registered");
  theirs.registrations.set("registered", other);

  const patchNode = async (type: string, body: object) =>
    (await cluster.patch("/api/v1/nodes/node-1", type, body)).kind === "done";
  let rude = true;
  let rewrites = 0;
  /** Reads all taints and writes all of them back with one of its own changed, if nobody was quicker. */
  const rewriting = (async () => {
    while (rude) {
      const node = await cluster.node("node-1");
      const kept = node.taints.filter(({ key }) => key !== "rude");
      const metadata = { resourceVersion: node.resourceVersion };
      const taint = { key: "rude", value: `${rewrites}`, effect: "NoExecute" };
      if (await patchNode("merge-patch", { metadata, spec: { taints: [taint, ...kept] } })) rewrites += 1;
    }
  })();
  const putOn = async () => {
    for (;;) {
      const node = await cluster.node("node-1");
      const isPut = await patchNode("json-patch", [
        { op: "test", path: "/metadata/resourceVersion", value: node.resourceVersion },
        { op: "add", path: "/spec/taints", value: [...node.taints, STARTUP_TAINT, otherTaint] },
      ]);
      if (isPut) return;
    }
  };
  await cluster.setTaints("node-1", [FOREIGN_TAINT]);
  for (let round = 1; round <= 200; round += 1) {
    await putOn();
    await eventually(async () => {
      const keys = (await taints()).map(({ key }) => key);
      expect(keys).not.toContain(STARTUP_TAINT.key);
      expect(keys).not.toContain(otherTaint.key);
      expect(keys).toContain(FOREIGN_TAINT.key);
    });
  }
  rude = false;
  await rewriting;
  expect(rewrites).toBeGreaterThan(200);
  const left = (await taints()).map(({ key }) => key).sort();
  expect(left).toEqual([FOREIGN_TAINT.key, "rude"].sort());
  const removals = [ours, theirs].map(({ readiness }) =>
    readiness.status().taints.reduce((sum, { removals: count }) => sum + count, 0),
  );
  expect(removals).toEqual([200, 200]);
});
