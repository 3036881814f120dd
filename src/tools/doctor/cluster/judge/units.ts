import { isPattern } from "../../../../host-path/path-pattern";
import { onHost } from "../../files/read/pod";
import type { RegistrarContainer } from "../../files/read/registrars";
import { together } from "../../findings/words";
import type { ClusterReading } from "../read/cluster";
import type { Resource } from "../read/reader";
import type { RegistrarSet } from "../read/set";

/** Which of these lists could not be read to their end, as a sentence; undefined: none. */
export function notRead({ incomplete }: Pick<ClusterReading, "incomplete">, ...lists: readonly Resource[]) {
  const missing = lists.filter((one) => incomplete.has(one)).map((one) => KINDS[one] ?? one);
  return missing.length === 0 ? undefined : `${together(missing)} could not be listed`;
}
const KINDS: Partial<Record<Resource, string>> = {
  ...{ nodes: "Nodes", csinodes: "CSINodes", csidrivers: "CSIDrivers" },
  ...{ daemonsets: "DaemonSets", volumeattachments: "VolumeAttachments" },
};
/** The lists that say where a driver is or is needed. */
export const PLACES = ["daemonsets", "pods", "csinodes", "volumeattachments", "events"] as const;
/** The lists by which a driver's name is found. */
export const HINTS = ["daemonsets", "pods", "csidrivers", "csinodes"] as const;

export type RegistrarUnit = ReturnType<typeof nameDrivers>[number];

export const EVERY_DRIVER = "(every driver)";
export const isGuess = (unit: RegistrarUnit | undefined): boolean => unit?.driver.kind === "guessed";

type Hints = Pick<ClusterReading, "sets" | "pods" | "csiNodes" | "csiDrivers" | "needs" | "incomplete">;

/** Finds every registrar's driver: by its socket's path, the words of its pod, or the drivers of its nodes. */
export function nameDrivers(reading: Hints) {
  const { sets, csiNodes, csiDrivers, needs } = reading;
  const listed = [...(csiNodes?.values() ?? [])].flatMap((drivers) => [...drivers]);
  const known = new Set([...(csiDrivers ?? []), ...needs.map(({ driver }) => driver), ...listed]);
  const units = sets.flatMap((set) => set.registrars.map((registrar) => ({ set, registrar })));
  const named = new Map<RegistrarContainer, string | undefined>();
  const onlyFree = (isMeant: (name: string) => boolean) => {
    const taken = new Set(named.values());
    const names = [...known].filter((name) => !taken.has(name) && isMeant(name));
    return names.length === 1 ? names[0] : undefined;
  };
  const onlyOnAll = (set: RegistrarSet, isMeant: (name: string) => boolean) => {
    const own = nodesOf(set, reading);
    const isOnAll = (name: string) => own.length > 0 && own.every((node) => csiNodes?.get(node)?.has(name));
    return onlyFree((name) => isMeant(name) && isOnAll(name));
  };
  type Way = (unit: (typeof units)[number]) => string | undefined;
  // Two DaemonSets may have one driver in the paths of their sockets.
  const byPath: Way = ({ registrar }) => nameInPath(registrar, known);
  const byWord: Way = ({ set }) => onlyFree((name) => set.words.has(name));
  const byNodes: Way = ({ set }) => onlyOnAll(set, () => true);
  const byBoth: Way = ({ set }) => onlyOnAll(set, (name) => set.words.has(name));
  // A name that is left over is this one's only if all are known.
  const others = notRead(reading, ...HINTS) === undefined ? [byWord, byNodes] : [byBoth];
  for (const way of [byPath, ...(notRead(reading, "daemonsets", "pods") === undefined ? others : [])])
    for (const unit of units) named.set(unit.registrar, named.get(unit.registrar) ?? way(unit));
  return units.map((unit) => ({ ...unit, driver: driverOf(unit.registrar, named.get(unit.registrar)) }));
}

/** `known`: the cluster has this name; `guessed`: it is the socket's directory; `every`: of all drivers of a node. */
function driverOf(registrar: RegistrarContainer, name: string | undefined) {
  if (isPattern(registrar.settings.kubeletRegistrationPath))
    return { kind: "every", name: EVERY_DRIVER } as const;
  if (name !== undefined) return { kind: "known", name } as const;
  const [path = ""] = socketPathsOf(registrar);
  const segments = path.split(/[/\\]/).filter(Boolean);
  return { kind: "guessed", name: segments.at(-2) ?? segments.at(-1) ?? "(unknown)" } as const;
}

/** The longest name that is a segment of the socket's path: 98 of 99 published deployments have it there. */
function nameInPath(registrar: RegistrarContainer, known: ReadonlySet<string>): string | undefined {
  const segments = socketPathsOf(registrar).flatMap((path) => path.split(/[/\\]/));
  const names = segments.flatMap((one) => [one, one.replace(/\.sock$/, "")]).filter((one) => known.has(one));
  return names.sort((one, other) => other.length - one.length || (one < other ? -1 : 1))[0];
}

/** The driver's socket on the host: by the volumes, and as kubelet gets it, which may be wrong. */
function socketPathsOf({ settings, mounts }: RegistrarContainer): readonly string[] {
  return [onHost(settings.csiAddress, mounts) ?? [], settings.kubeletRegistrationPath].flat();
}

function nodesOf({ uid }: RegistrarSet, { pods }: Hints): readonly string[] {
  return pods.flatMap(({ setUid, node, trouble }) =>
    setUid === uid && trouble === undefined && node !== undefined ? [node] : [],
  );
}
