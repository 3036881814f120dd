import { asFarAsAsked } from "../../findings/least";
import type { Name } from "../../findings/opened";
import { isWhole, lackingIn, listFrom, type SeenList, type Truth, toldOf, truth } from "../../findings/seen";
import type { ClusterReading } from "../read/cluster";
import type { Mention } from "../read/mentions";
import {
  byDriver,
  driverNamed,
  isEvery,
  isGuess,
  isOneDriver,
  nameDrivers,
  OF_GUESS,
  type Pair,
} from "../read/units";

export type ClusterLists = Omit<ClusterReading, "readOwners" | "readRivals" | "gaps">;

type Needed = Pick<Mention, "node" | "driver">;
/** A driver that something needs on a node. */
export type Need = Readonly<Record<"node" | "driver", string>>;

/** Of a node's items those of a driver. */
const at =
  <Item extends { readonly driver: string }>(itemsOn: (node: string) => SeenList<Item>) =>
  ({ node = "", driver: own }: Needed) =>
    itemsOn(node).filter(({ driver }) => isOneDriver(own, driverNamed(driver)));

/** What a driver's state is judged by, beside its place. */
export type Surroundings = ReturnType<typeof surroundingsOf>;

export function surroundingsOf(lists: ClusterLists, needs: SeenList<Need>, pair: Pair | undefined) {
  const units = nameDrivers({ ...lists, needs }, pair);
  const names = lists.csiDrivers.with(lists.csiNodes.flatMap(({ drivers }) => [...drivers]));
  /** A driver whose name is a guess may have one that could not be read. */
  const mayBeOther = isWhole(asFarAsAsked(names)).and(isWhole(lists.sets)).not();
  const mayBe = mayBeOther.or(truth(OF_GUESS));
  const guesses = units.filter(isGuess);
  const namedSo = byDriver(units);
  return {
    ...lists,
    units,
    unitsOfSet: units.by(({ set }) => set.uid),
    guesses: toldOf(guesses),
    /** For readers: those that go by a name, known or guessed. */
    namedSo,
    /** Of a driver without any, a guess may be one. */
    unitsOfDriver: (driver: Name) => {
      const own = namedSo(driver);
      const isLacking = mayBe.and(own.contains().not());
      return own.with(guesses.filter(() => isLacking));
    },
    unitsOfEvery: units.filter(isEvery),
    /** Whether a CSINode's names have a driver's: a guess may be one that no registrar is known for. */
    isAmong: (driver: Name, listed: ReadonlySet<string>): Truth => {
      const isOwn = (name: string) => isOneDriver(driver, driverNamed(name));
      const all = listFrom([...listed]);
      if (!isGuess({ driver })) return all.contains(isOwn);
      return all
        .contains((name) => isOwn(name).and(namedSo(driverNamed(name)).contains().not()))
        .or(mayBeOther);
    },
    /** Names of all drivers, also of those that are not asked for. */
    driverNames: names.with(needs.map(({ driver }) => driver)).with(lackingIn(guesses.filter(() => mayBe))),
    mayBeOther,
    waitingAt: at(lists.waitingOn),
    attachedAt: at(lists.attachedOn),
    /** Whether each of these registers a driver whose name is known. */
    areNamed: units.contains((unit) => isEvery(unit).or(isGuess(unit) && truth(OF_GUESS))).not(),
  };
}
