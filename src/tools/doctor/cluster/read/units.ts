import { isPattern } from "../../../../host-path/path-pattern";
import { isTemplate } from "../../../recognise/rule";
import { writtenOnHost } from "../../files/read/pod";
import type { RegistrarContainer } from "../../files/read/registrars";
import { itemsOf, keyIn, type Name, named, open, orNull, type Told, tell } from "../../findings/opened";
import { beyond, type Gap, inOrder, placedAt, type SeenList, type Truth, truth } from "../../findings/seen";
import type { ClusterReading, ClusterTarget } from "./cluster";
import type { RegistrarSet } from "./set";

export type RegistrarUnit = ReturnType<typeof nameDrivers> extends SeenList<infer Unit> ? Unit : never;

export const EVERY_DRIVER = "(every driver)";

/** Of a registrar, or at a place. */
interface OfDriver {
  readonly driver: Name;
}
/** Whether it is the node-wide registrar. */
export const isEvery = ({ driver }: OfDriver): Truth =>
  truth(
    keyIn(driver) === EVERY_DRIVER ||
      (open(driver).gaps.find(({ why }) => why.kind === "beyond" && why.mayBeEvery) ?? false),
  );
export const isGuess = ({ driver }: OfDriver): boolean => open(driver).gaps.length > 0;
/** What CSINode, a CSIDriver or a volume calls a driver. */
export const driverNamed = (name: string): Name => named(name);
/** A guess may have any name; where that matters, a text says so. */
const ofGuess = (mayBeEvery: boolean): Gap => ({
  ...beyond("daemonsets"),
  why: { kind: "beyond", text: "the name of a registrar's driver is not known", mayBeEvery },
});
export const OF_GUESS = ofGuess(false);
/** The same of one whose paths may be patterns. */
const OF_OPEN = ofGuess(true);
export const isOneDriver = (one: Name, other: Name): Truth =>
  truth(keyIn(one) === keyIn(other) || ([open(one), open(other)].flatMap(({ gaps }) => gaps)[0] ?? false));
/** Of a driver that was not asked for. */
const OF_OTHERS = truth(beyond("daemonsets", "", { set: "(other drivers)" }));
/** Whether the report is about this driver: a guess is one that is asked for if its pod names that. */
export const isMeant = (one: OfDriver, { driver: wanted }: ClusterTarget): Truth =>
  isEvery(one).or([undefined, open(one.driver).told].includes(wanted) || OF_OTHERS);

/** Those of each DaemonSet. */
export const bySet = (units: SeenList<RegistrarUnit>) =>
  units.grouped(({ set }) => set.uid, placedAt({ set: (uid) => uid }));
/** With these first. */
export function withFirst(units: SeenList<RegistrarUnit>, first: readonly RegistrarUnit[]) {
  const order = [...new Set([...first, ...itemsOf(units)])];
  return inOrder(units, (one) => order.indexOf(one));
}
/** Those whose driver's name is not known: what was not read may tell it, so that the cluster need not have one. */
export const guessesIn = ({ guesses }: { readonly guesses: Told<SeenList<RegistrarUnit>> }) => tell(guesses);

/** The registrars of a driver. Where its name is a guess any other one may be, too. */
export function byDriver(units: SeenList<RegistrarUnit>) {
  const found = units.by(({ driver }) => keyIn(driver));
  return (driver: Name) =>
    isGuess({ driver }) ? units.filter((one) => isOneDriver(one.driver, driver)) : found(keyIn(driver));
}
/** Those of these names that no registrar's driver is known to have. */
export function withoutRegistrar(names: readonly string[], units: readonly RegistrarUnit[]) {
  const owned = new Set(units.map(({ driver }) => keyIn(driver)));
  return [...new Set(names.filter((name) => !owned.has(name)))];
}

interface Unnamed {
  readonly set: RegistrarSet;
  readonly registrar: RegistrarContainer;
}

type Hints = Pick<ClusterReading, "target" | "sets" | "csiNodes" | "csiDrivers"> & {
  readonly needs: SeenList<{ readonly driver: string }>;
};

/** A registrar and a driver that are left when all others have each other. */
export interface Pair {
  readonly registrar: RegistrarContainer;
  readonly driver: string;
}

/** Finds every registrar's driver: by its socket's path, by the words of its pod, or as the pair that is left. */
export function nameDrivers({ target, sets, csiNodes, csiDrivers, needs }: Hints, pair?: Pair) {
  const names = csiDrivers.with(csiNodes.flatMap(({ drivers }) => [...drivers]));
  const units = sets.flatMap((set) =>
    set.registrars.map((registrar) => ({
      ...{ set, registrar },
      /** The API server takes no placeholder for its name. */
      container: tell<string>(registrar.about.container),
    })),
  );
  const all = names.with(needs.map(({ driver }) => driver));
  // Without a name that was not read, a driver's name is a guess.
  const known = new Set(itemsOf(all));
  const left = orNull(names, () => orNull(units, (whole) => namesLeft(whole, known)));
  return units.map((unit) => {
    const last = unit.registrar === pair?.registrar ? pair.driver : undefined;
    const name = nameInPath(unit.registrar, known) ?? left?.get(unit.registrar) ?? last;
    return { ...unit, driver: driverOf(unit, name, target.driver) };
  });
}

/** A name that is left over is a registrar's only if all others have theirs. */
function namesLeft(units: readonly Unnamed[], known: ReadonlySet<string>) {
  // Two DaemonSets may have one driver in the paths of their sockets.
  const names = new Map(units.map(({ registrar }) => [registrar, nameInPath(registrar, known)]));
  for (const { registrar, set } of units) {
    const taken = new Set(names.values());
    const free = [...known].filter((name) => !taken.has(name) && tell(set.words).known.has(name));
    if (free.length === 1) names.set(registrar, names.get(registrar) ?? free[0]);
  }
  return names;
}

/** The name that the cluster has; or a guess: the one that is asked for, which the pod names, or else the socket's directory. */
function driverOf({ registrar, set }: Unnamed, name: string | undefined, wanted: string | undefined) {
  const { csiAddress, kubeletRegistrationPath } = tell(registrar.written);
  const filledIn = [csiAddress, kubeletRegistrationPath].filter((one) => !isTemplate(one));
  if (filledIn.some(isPattern)) return named(EVERY_DRIVER);
  if (name !== undefined) return named(name);
  const [path = ""] = socketPathsOf(registrar);
  const segments = path.split(/[/\\]/).filter(Boolean);
  const isWanted =
    wanted !== undefined &&
    (tell(set.words).known.has(wanted) || nameInPath(registrar, new Set([wanted])) !== undefined);
  const guess = isWanted ? wanted : (segments.at(-2) ?? segments.at(-1) ?? "(unknown)");
  return named(guess, `${guess} of ${tell<string>(registrar.place)}`, [
    filledIn.length > 0 ? OF_GUESS : OF_OPEN,
  ]);
}

/** The longest name that is a segment of the socket's path: 98 of 99 published deployments have it there. */
function nameInPath(registrar: RegistrarContainer, known: ReadonlySet<string>): string | undefined {
  const segments = socketPathsOf(registrar).flatMap((path) => path.split(/[/\\]/));
  const names = segments.flatMap((one) => [one, one.replace(/\.sock$/, "")]).filter((one) => known.has(one));
  return names.sort((one, other) => other.length - one.length || (one < other ? -1 : 1))[0];
}

/** The driver's socket on the host: by the volumes, and as kubelet gets it, which may be wrong. */
function socketPathsOf({ written, mounts }: RegistrarContainer): readonly string[] {
  const { csiAddress, kubeletRegistrationPath } = tell(written);
  return [writtenOnHost(csiAddress, mounts) ?? [], kubeletRegistrationPath].flat();
}
