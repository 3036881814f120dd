import type { FactsAndGaps } from "../../../../src/tools/doctor/cluster/judge/facts";
import { itemsOf, open, orNull } from "../../../../src/tools/doctor/findings/opened";
import { type Calls, otherFactsIn } from "../findings/less-known";
import { WORLDS } from "./too-much";

// Judges take the facts of a cluster for true: where less could be read, they may be unread, and none may be another one.

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
