import type { FactsAndGaps } from "../../../../src/tools/doctor/cluster/judge/facts";
import { driverNamed } from "../../../../src/tools/doctor/cluster/read/units";
import { itemsOf, open, orNull } from "../../../../src/tools/doctor/findings/opened";
import type { Calls } from "../findings/less-known";

/** What could not be read is no fact. */
export const NO_FACTS = ["gaps"];

/** Facts are asked for all that is there, and for what is not. */
export function callsOf({ nodes, sets, csiDrivers, places, units, ownersOf }: FactsAndGaps): Calls {
  const nodeNames = [...itemsOf(nodes).map(({ name }) => name), "nowhere"];
  const each = (all: readonly unknown[]) => all.map((one) => [one]);
  const [ofNodes, ofSets] = [each(nodeNames), each([...itemsOf(sets).map(({ uid }) => uid), "none"])];
  const there = itemsOf(sets).flatMap((set) => nodeNames.map((node) => [set, node]));
  const ofPlaces = each(itemsOf(places));
  // Where more is known, fewer pods have to be read.
  const served = each(itemsOf(places).filter((place) => orNull(ownersOf(place).owners, () => true)));
  const drivers = each([
    ...[...itemsOf(csiDrivers), "none"].map(driverNamed),
    ...itemsOf(units).map(({ driver }) => driver),
  ]);
  return {
    ...{ nodeAt: ofNodes, csiNodeAt: ofNodes, waitingOn: ofNodes, attachedOn: ofNodes },
    ...{ podsOf: ofSets, leavingOf: ofSets, unitsOfSet: ofSets, podsAt: there, leavingAt: there },
    ...{ waitingAt: ofPlaces, attachedAt: ofPlaces, ownersOf: served, unitsOfDriver: drivers },
    isAmong: itemsOf(places).map(({ driver }) => [driver, new Set([open(driver).told])]),
    isManifestCause: itemsOf(units).map(({ registrar: { about } }) => [{ kind: "manifest", ...about }]),
  };
}
