import type { Cause } from "../../findings/causes";
import type { Finding } from "../../findings/finding";
import type { Closed } from "../../findings/opened";
import { beyond, nothing, otherwise, type Truth, toldOf, truth } from "../../findings/seen";
import type { ClusterReading } from "../read/cluster";
import type { OwnersOf } from "../read/owners";
import { EVERY_DRIVER, type RegistrarUnit } from "../read/units";
import type { placesIn } from "./places";
import { wantsNone } from "./set-wants";
import { inState, type Place } from "./state";
import { isDoubted, unlessServed } from "./states";

/** What could not be read is a matter of the checks that report it. */
export type FactsAndGaps = ReturnType<typeof factsOf>;
export type ClusterFacts = Omit<FactsAndGaps, "gaps" | "namedSo">;

/** Of a driver that was not asked for. */
const OF_OTHERS = truth(beyond("daemonsets", "", { set: "(other drivers)" }));

/** Drops all drivers but the one that is asked for, and names those of which no DaemonSet is known to register them. */
export function meantIn({ units: all, places: allPlaces, ...around }: ReturnType<typeof placesIn>) {
  const { driver: wanted } = around.target;
  const isMeant = (name: string) => [undefined, name].includes(wanted) || name === EVERY_DRIVER || OF_OTHERS;
  const places = allPlaces.filter(({ driver }) => isMeant(driver));
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
    units: all.filter((unit) => isMeant(unit.driver.name)),
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
  meant: ReturnType<typeof meantIn>,
  ownersOf: OwnersOf,
  gaps: ReturnType<ClusterReading["gaps"]>,
  manifests: Manifests,
) => ({
  ...{ ...meant, ownersOf, gaps, ...manifests },
  places: meant.places.map((place) => unlessServed(place, ownersOf)),
});
