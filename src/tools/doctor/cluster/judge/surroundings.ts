import { asked, isWhole, type SeenList } from "../../findings/seen";
import type { ClusterReading } from "../read/cluster";
import type { Mention } from "../read/mentions";
import { EVERY_DRIVER, isGuess, nameDrivers, type Pair } from "../read/units";

export type ClusterLists = Omit<ClusterReading, "readOwners" | "readRivals" | "gaps">;

type Needed = Pick<Mention, "node" | "driver">;

/** What a driver's state is judged by, beside its place. */
export type Surroundings = ReturnType<typeof surroundingsOf>;

export function surroundingsOf(lists: ClusterLists, needs: SeenList<Mention>, pair: Pair | undefined) {
  const units = nameDrivers({ ...lists, needs }, pair);
  const names = lists.csiDrivers.with(lists.csiNodes.flatMap(({ drivers }) => [...drivers]));
  return {
    ...lists,
    units,
    unitsOfSet: units.by(({ set }) => set.uid),
    unitsOfDriver: units.by(({ driver }) => driver.name),
    /** A driver whose name is a guess may have one that could not be read. */
    mayBeOther: isWhole(asked(names)).and(isWhole(lists.sets)).not(),
    waitingAt: ({ node = "", driver: own }: Needed) =>
      lists.waitingOn(node).filter(({ driver }) => driver === own),
    attachedAt: ({ node = "", driver: own }: Needed) =>
      lists.attachedOn(node).filter(({ driver }) => driver === own),
    /** Whether each of these registers a driver whose name is known. */
    areNamed: units.contains((unit) => isGuess(unit) || unit.driver.name === EVERY_DRIVER).not(),
  };
}
