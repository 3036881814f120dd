import { isPattern } from "../../host-path/path-pattern";
import { type Deployment, onHost } from "../manifest/deployment";
import type { ClusterReading, RegistrarSet } from "./facts";

/** A registrar of a DaemonSet, and the driver that it registers. */
export interface RegistrarUnit {
  readonly set: RegistrarSet;
  readonly registrar: Deployment;
  readonly driver: UnitDriver;
}

type Unnamed = Omit<RegistrarUnit, "driver">;

/**
 * Which driver a registrar registers. It learns that from the driver itself, so from outside it is a conclusion:
 * `known` is one that the cluster knows; `guessed` is the folder of its socket, where nothing else is known; `every` is
 * for a registrar of all drivers of its node.
 */
export type UnitDriver =
  | { readonly kind: "known" | "guessed"; readonly name: string }
  | { readonly kind: "every" };

/** What a row says of the driver of a registrar that is for all of them. */
export const EVERY_DRIVER = "(every driver)";

export function nameOf(driver: UnitDriver): string {
  return driver.kind === "every" ? EVERY_DRIVER : driver.name;
}

/** Says of every registrar whose it is: by its socket's path, by the words of its pod, by what its nodes have. */
export function nameDrivers(reading: ClusterReading): readonly RegistrarUnit[] {
  const { sets, csiNodes, csiDrivers, needs } = reading;
  const known = new Set(csiDrivers);
  for (const { driver } of needs) known.add(driver);
  for (const drivers of csiNodes?.values() ?? []) for (const name of drivers.keys()) known.add(name);
  const units = sets.flatMap((set) => set.registrars.map((registrar) => ({ set, registrar })));
  const named = new Map<Deployment, string>();
  const free = () => without(known, named.values());
  const ways: readonly ((unit: Unnamed) => string | undefined)[] = [
    // Two DaemonSets may have one driver in the paths of their sockets.
    ({ registrar }) => nameInPath(registrar, known),
    ({ set }) => nameInWords(set, free()),
    ({ set }) => nameByNodes(set, reading, free()),
  ];
  for (const way of ways)
    for (const unit of units) {
      const name = named.get(unit.registrar) ?? way(unit);
      if (name !== undefined) named.set(unit.registrar, name);
    }
  return units.map((unit) => ({ ...unit, driver: driverOf(unit.registrar, named.get(unit.registrar)) }));
}

function driverOf(registrar: Deployment, name: string | undefined): UnitDriver {
  if (isPattern(registrar.settings.kubeletRegistrationPath)) return { kind: "every" };
  if (name !== undefined) return { kind: "known", name };
  const [path = ""] = socketPathsOf(registrar);
  const segments = path.split(/[/\\]/).filter(Boolean);
  return { kind: "guessed", name: segments.at(-2) ?? segments.at(-1) ?? "(unknown)" };
}

/** The longest name in the path of the socket: of 99 published deployments 98 have it there. */
function nameInPath(registrar: Deployment, known: ReadonlySet<string>): string | undefined {
  const paths = socketPathsOf(registrar);
  return [...known]
    .filter((name) => paths.some((path) => path.includes(name)))
    .sort((one, other) => other.length - one.length)[0];
}

/** The driver's socket on the host: by the volumes, and as kubelet is told, which may be wrong. */
function socketPathsOf({ settings, mounts }: Deployment): readonly string[] {
  const byVolumes = onHost(settings.csiAddress, mounts);
  return [...(byVolumes === undefined ? [] : [byVolumes]), settings.kubeletRegistrationPath];
}

/** The one name among the arguments and the environment of the pod's containers. */
function nameInWords({ words }: RegistrarSet, known: ReadonlySet<string>): string | undefined {
  return only([...known].filter((name) => words.has(name)));
}

/** The one name that every node has on which a pod works. */
function nameByNodes(
  { uid }: RegistrarSet,
  { pods, csiNodes }: ClusterReading,
  known: ReadonlySet<string>,
): string | undefined {
  const nodes = pods.flatMap(({ setUid, node, trouble }) =>
    setUid === uid && trouble === undefined && node !== undefined ? [node] : [],
  );
  if (nodes.length === 0) return undefined;
  return only([...known].filter((name) => nodes.every((node) => csiNodes?.get(node)?.has(name))));
}

function without(names: ReadonlySet<string>, taken: Iterable<string>): ReadonlySet<string> {
  const others = new Set(taken);
  return new Set([...names].filter((name) => !others.has(name)));
}

function only(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined;
}
