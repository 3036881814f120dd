import type { Cause } from "../../findings/causes";
import type { Finding } from "../../findings/finding";
import type { Closed } from "../../findings/opened";
import { nothing, otherwise, type Truth, toldOf } from "../../findings/seen";
import type { ClusterReading } from "../read/cluster";
import type { OwnersOf } from "../read/owners";
import { isMeant, type RegistrarUnit } from "../read/units";
import type { placesIn } from "./places";
import { wantsNone } from "./set-wants";
import { inState, type Place } from "./state";
import { isDoubted, unlessServed } from "./states";

/** What could not be read is a matter of the checks that report it. */
export type FactsAndGaps = ReturnType<typeof factsOf>;
export type ClusterFacts = Omit<FactsAndGaps, "gaps" | "namedSo">;

/** Drops all drivers but the one that is asked for, and names those of which no DaemonSet is known to register them. */
export function meantIn({ units: all, places: allPlaces, ...around }: ReturnType<typeof placesIn>) {
  const places = allPlaces.filter((one) => isMeant(one, around.target));
  const unowned = places
    .filter(inState("unprovided", "registered"))
    .flatMap((place) =>
      place.units.contains((unit) => mayHavePod(unit, place, around))({
        yes: nothing,
        ...otherwise(() => toldOf(place)),
      }),
    )
    .with(places.filter(isDoubted).map(toldOf));
  return {
    ...around,
    units: all.filter((one) => isMeant(one, around.target)),
    places,
    unowned,
  };
}

/** A DaemonSet that wants no pod may have had one on a node. */
export const mayHavePod = (
  { set }: RegistrarUnit,
  { node = "" }: Pick<Place, "node">,
  { podsAt, leavingAt, nowMs }: Pick<ClusterReading, "podsAt" | "leavingAt" | "nowMs">,
) => podsAt(set, node).contains().or(leavingAt(set, node).contains()).or(wantsNone(set, nowMs).not());

/** What `doctor -f` would find in the DaemonSets; the first problem of each registrar is a cause. */
interface Manifests {
  readonly manifestFindings: Closed<readonly Finding[]>;
  readonly isManifestCause: (cause: Cause) => Truth;
}

/** With the owners of drivers that no DaemonSet registers. */
export const factsOf = (
  { unowned: _, ...meant }: ReturnType<typeof meantIn>,
  ownersOf: OwnersOf,
  gaps: ReturnType<ClusterReading["gaps"]>,
  manifests: Manifests,
) => ({
  ...{ ...meant, ownersOf, gaps, ...manifests },
  places: meant.places.map((place) => unlessServed(place, ownersOf)),
});
