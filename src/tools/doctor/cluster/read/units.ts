import { isPattern } from "../../../../host-path/path-pattern";
import { writtenOnHost } from "../../files/read/pod";
import type { RegistrarContainer } from "../../files/read/registrars";
import { itemsOf, orNull, tell } from "../../findings/opened";
import type { SeenList } from "../../findings/seen";
import type { ClusterReading } from "./cluster";
import type { RegistrarSet } from "./set";

export type RegistrarUnit = ReturnType<typeof nameDrivers> extends SeenList<infer Unit> ? Unit : never;

export const EVERY_DRIVER = "(every driver)";
export const isGuess = (unit: RegistrarUnit | undefined): boolean => unit?.driver.kind === "guessed";

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
  const units = sets.flatMap((set) => set.registrars.map((registrar) => ({ set, registrar })));
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
  const named = new Map(units.map(({ registrar }) => [registrar, nameInPath(registrar, known)]));
  for (const { registrar, set } of units) {
    const taken = new Set(named.values());
    const free = [...known].filter((name) => !taken.has(name) && tell(set.words).known.has(name));
    if (free.length === 1) named.set(registrar, named.get(registrar) ?? free[0]);
  }
  return named;
}

/**
 * `known`: the cluster has this name; `guessed`: it is the one that is asked for, which the pod names, or else the socket's
 * directory; `every`: of all drivers of a node.
 */
function driverOf({ registrar, set }: Unnamed, name: string | undefined, wanted: string | undefined) {
  if (isPattern(tell(registrar.written).kubeletRegistrationPath))
    return { kind: "every", name: EVERY_DRIVER } as const;
  if (name !== undefined) return { kind: "known", name } as const;
  const [path = ""] = socketPathsOf(registrar);
  const segments = path.split(/[/\\]/).filter(Boolean);
  const isWanted =
    wanted !== undefined &&
    (tell(set.words).known.has(wanted) || nameInPath(registrar, new Set([wanted])) !== undefined);
  const guess = isWanted ? wanted : (segments.at(-2) ?? segments.at(-1) ?? "(unknown)");
  return { kind: "guessed", name: guess } as const;
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
