import type { ClusterReport } from "../../../../src/tools/doctor/cluster/report";
import type { MemoryCluster } from "./memory-cluster";
import { tooMuchIn, WORLDS } from "./too-much";

// What is said must hold in each world that agrees with what was seen.

const RESOURCES = ["nodes", "csinodes", "csidrivers", "volumeattachments", "pods", "events", "daemonsets"];

/**
 * The reports on clusters that differ in one list alone: each of its objects in turn is not there, or
 * is as the next one is; and none is there.
 */
async function completionsOf(cluster: MemoryCluster, resource: string) {
  const reports: [what: string, ClusterReport][] = [];
  let stored: Parameters<Parameters<MemoryCluster["edit"]>[0]>[0] = [];
  cluster.edit((all) => {
    stored = [...all];
    return stored;
  });
  const own = stored.filter(({ path }) => path.endsWith(`/${resource}`));
  const see = async (
    what: string,
    change: (one: (typeof own)[number]) => readonly (typeof own)[number][],
  ) => {
    cluster.edit(() => stored.flatMap((one) => (own.includes(one) ? change(one) : one)));
    reports.push([what, await cluster.report()]);
  };
  for (const [at, one] of own.entries()) {
    const { name } = one.object.metadata;
    const { metadata: _, ...other } = own[(at + 1) % own.length]?.object ?? one.object;
    await see(`without ${name}`, (its) => (its === one ? [] : [its]));
    await see(`with another ${name}`, (its) =>
      its === one ? [{ ...its, object: { ...its.object, ...other } }] : [its],
    );
  }
  await see("without any", () => []);
  cluster.edit(() => stored);
  return reports;
}

test.each(WORLDS)("of %s, what is said without a list holds whatever that list has", async (_what, make) => {
  const cluster = await make();
  const wrong: unknown[] = [];
  for (const resource of RESOURCES) {
    cluster.refuse([resource], "no");
    const report = await cluster.report();
    cluster.setFault();
    for (const [what, completion] of await completionsOf(cluster, resource)) {
      const tooMuch = tooMuchIn(report, completion);
      if (tooMuch.length > 0) wrong.push([resource, what, tooMuch]);
    }
  }
  expect(wrong).toEqual([]);
});
