import { claimedTooMuch } from "../findings/completions";
import { makeHealthy } from "./healthy-cluster";
import { ago, type MemoryCluster } from "./memory-cluster";
import { addNode } from "./sick-cluster";
import { WORLDS } from "./too-much";

/** Where each DaemonSet has a pod less than it wants: a node has only just come. */
async function makeGrowing(): Promise<MemoryCluster> {
  const cluster = await makeHealthy();
  await addNode(cluster, "young", {}, { metadata: { creationTimestamp: ago(1) } });
  cluster.edit((all) =>
    all.map((one) => {
      if (!one.path.endsWith("/daemonsets")) return one;
      const status = Object(one.object.status);
      const desiredNumberScheduled = status.desiredNumberScheduled + 1;
      return { ...one, object: { ...one.object, status: { ...status, desiredNumberScheduled } } };
    }),
  );
  return cluster;
}

test.each([...WORLDS, ["a growing cluster", makeGrowing] as const])(
  "of %s, what is said with --node or --driver holds without it",
  async (_what, make) => {
    const cluster = await make();
    const { findings, nodes } = await cluster.report();
    const there = cluster.find({ path: "/api/v1/nodes" }).map((one) => Object(one).metadata.name);
    const targets = nodes.flatMap(({ node, driver }) => [
      ...(there.includes(node) ? [{ node }] : []),
      { driver },
    ]);
    for (const target of targets as readonly { node?: string; driver?: string }[]) {
      const own = (await cluster.report(target)).findings.filter(({ status }) => status !== "ok");
      expect([target, claimedTooMuch(own, findings)]).toEqual([target, []]);
    }
  },
);
