import { asked, beyond, isWhole, type SeenList, truth } from "../../findings/seen";
import type { ClusterReading } from "../read/cluster";
import type { Mention } from "../read/mentions";
import { EVERY_DRIVER, isGuess, nameDrivers, type Pair } from "../read/units";

export type ClusterLists = Omit<ClusterReading, "readOwners" | "readRivals" | "gaps">;

type Needed = Pick<Mention, "node" | "driver">;

/** A guess may have any name; where that matters, a text says so. */
const OF_GUESS = truth(beyond("daemonsets"));

/** Of a node's items those of a driver. */
const at =
  <Item extends { readonly driver: string }>(itemsOn: (node: string) => SeenList<Item>) =>
  ({ node = "", driver: own }: Needed) =>
    itemsOn(node).filter(({ driver }) => driver === own);

/** What a driver's state is judged by, beside its place. */
export type Surroundings = ReturnType<typeof surroundingsOf>;

export function surroundingsOf(lists: ClusterLists, needs: SeenList<Mention>, pair: Pair | undefined) {
  const units = nameDrivers({ ...lists, needs }, pair);
  const names = lists.csiDrivers.with(lists.csiNodes.flatMap(({ drivers }) => [...drivers]));
  /** A driver whose name is a guess may have one that could not be read. */
  const mayBeOther = isWhole(asked(names)).and(isWhole(lists.sets)).not();
  const mayBe = mayBeOther.or(OF_GUESS);
  const guesses = units.filter(isGuess);
  const namedSo = units.by(({ driver }) => driver.name);
  return {
    ...lists,
    units,
    unitsOfSet: units.by(({ set }) => set.uid),
    /** Those whose driver is not known. */
    guesses,
    /** For readers: those that go by a name, known or guessed. */
    namedSo,
    /** Of a driver without any, a guess may be one. */
    unitsOfDriver: (name: string) => {
      const own = namedSo(name);
      const isLacking = mayBe.and(own.contains().not()).and(name !== EVERY_DRIVER);
      return own.with(guesses.filter(() => isLacking));
    },
    /** Names of all drivers, also of those that are not asked for. */
    driverNames: units
      .filter((unit) => (isGuess(unit) ? mayBe : true))
      .map(({ driver }) => driver.name)
      .with(needs.map(({ driver }) => driver))
      .with(names),
    mayBeOther,
    waitingAt: at(lists.waitingOn),
    attachedAt: at(lists.attachedOn),
    /** Whether each of these registers a driver whose name is known. */
    areNamed: units.contains((unit) => isGuess(unit) || unit.driver.name === EVERY_DRIVER).not(),
  };
}
