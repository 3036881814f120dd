import type { FactsAndGaps } from "../../../../src/tools/doctor/cluster/judge/facts";
import { isWaitedFor } from "../../../../src/tools/doctor/cluster/judge/states";
import { EVERY_DRIVER } from "../../../../src/tools/doctor/cluster/read/units";
import { itemsOf, open, orNull, trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { type Calls, otherFactsIn } from "../findings/less-known";
import { clusterOf } from "./admitted-cluster";
import { createMemoryCluster, type MemoryCluster, makeCluster } from "./memory-cluster";
import { addNode, DISK } from "./sick-cluster";
import { WORLDS } from "./too-much";

// Judges take the facts of a cluster for true: where less could be read, they may be unread, and none may be another one.

const PODS = "/api/v1/namespaces/storage/pods";
/** What could not be read is no fact. */
const NO_FACTS = ["gaps"];

/** Facts are asked for all that is there, and for what is not. */
function callsOf({ nodes, sets, csiDrivers, places, units, ownersOf }: FactsAndGaps): Calls {
  const nodeNames = [...itemsOf(nodes).map(({ name }) => name), "nowhere"];
  const each = (all: readonly unknown[]) => all.map((one) => [one]);
  const [ofNodes, ofSets] = [each(nodeNames), each([...itemsOf(sets).map(({ uid }) => uid), "none"])];
  const there = itemsOf(sets).flatMap((set) => nodeNames.map((node) => [set, node]));
  const ofPlaces = each(itemsOf(places));
  // Where more is known, fewer pods have to be read.
  const served = each(itemsOf(places).filter((place) => orNull(ownersOf(place).owners, () => true)));
  const drivers = each([...itemsOf(csiDrivers), ...itemsOf(units).map(({ driver }) => driver), "none"]);
  return {
    ...{ nodeAt: ofNodes, csiNodeAt: ofNodes, waitingOn: ofNodes, attachedOn: ofNodes },
    ...{ podsOf: ofSets, leavingOf: ofSets, unitsOfSet: ofSets, podsAt: there, leavingAt: there },
    ...{ waitingAt: ofPlaces, attachedAt: ofPlaces, ownersOf: served, unitsOfDriver: drivers },
    isAmong: itemsOf(places).map(({ driver }) => [driver, new Set([open(driver).told])]),
    isManifestCause: itemsOf(units).map(({ registrar: { about } }) => [{ kind: "manifest", ...about }]),
  };
}

test.each(WORLDS)("%s: an unread page or object makes no other fact", async (_what, make) => {
  const cluster = await make();
  const more = await cluster.facts();
  const calls = callsOf(more);
  const pages = Array.from(cluster.reads, ([read, count]) =>
    Array.from({ length: count }, (_, at) => [read, at] as const),
  );
  const wrong = new Map<string, string>();
  for (const [read, page] of pages.flat())
    for (const what of [{ kind: "forbidden", message: "you may not" }, "broken"] as const) {
      // What lacks all after a page lacks what the page after it has, too.
      if (what !== "broken" && page % 4 > 0) continue;
      cluster.setFault({ read, page, what });
      const less = await cluster.facts();
      for (const one of otherFactsIn(less, more, { asWritten: NO_FACTS, calls }))
        wrong.set(one.replace(/: .*/, ""), `${read} ${page}: ${one}`);
    }
  expect([...wrong.values()]).toEqual([]);
});

describe("what nobody looks for is no certain no", () => {
  const placeIn = async (cluster: MemoryCluster) => {
    const facts = await cluster.facts();
    const [place] = itemsOf(facts.places);
    if (place === undefined) throw new Error("there is no place");
    return { facts, place };
  };
  const onNode = async (spec?: object) => {
    const cluster = createMemoryCluster();
    await addNode(cluster, "node-1", { [DISK]: "i" });
    const metadata = { name: "x", namespace: "storage" };
    const containers = [{ name: "x", image: "example.com/x:v1" }];
    if (spec) await cluster.create(PODS, { metadata, spec: { nodeName: "node-1", containers, ...spec } });
    return placeIn(cluster);
  };
  const inline = { volumes: [{ name: "data", csi: { driver: DISK } }] };
  const host = { volumes: [{ name: "host", hostPath: { path: `/x/${DISK}` } }] };
  const answersOf = async (spec?: object) => {
    const { facts, place } = await onNode(spec);
    const { owners, users } = facts.ownersOf(place);
    const registrars = owners.flatMap(({ registrar }) => registrar);
    return [isWaitedFor(place, facts), users.contains(), registrars.contains()].map(trueOrNull);
  };

  test("a pod may have a PersistentVolume of a driver, and a registrar may be a program of any name", async () => {
    expect(await answersOf()).toEqual([null, null, false]);
    // It waits for its volume.
    expect(await answersOf(inline)).toEqual([true, true, false]);
    expect(await answersOf(host)).toEqual([null, null, null]);
  });

  test("no CSINode can list the node-wide registrar, and a node that does not report does not say that it is not ready", async () => {
    const { place } = await placeIn(await clusterOf({ inPod: null, hasNodeWide: true }));
    expect([open(place.driver).told, trueOrNull(place.isListed)]).toEqual([EVERY_DRIVER, null]);
    const cluster = await makeCluster();
    await cluster.setStatus("/api/v1/nodes/node-1", { conditions: [{ type: "Ready", status: "Unknown" }] });
    const { nodes } = await cluster.facts();
    expect(itemsOf(nodes.map(({ ready }) => ready))).toEqual(["Unknown"]);
  });
});
