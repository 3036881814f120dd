import { isPattern } from "../../../host-path/path-pattern";
import type { Deployment } from "../../manifest/read/deployments";
import { onHost } from "../../manifest/read/mounts";
import type { ClusterReading } from "../read/cluster";
import type { RegistrarSet } from "../read/set";

/** A registrar of a DaemonSet, and the driver that it registers. */
export interface RegistrarUnit {
  readonly set: RegistrarSet;
  readonly registrar: Deployment;
  /** Only the driver itself tells its name. */
  readonly driver: {
    /** `known`: the cluster has this name; `guessed`: it is the socket's folder; `every`: of all drivers of a node. */
    readonly kind: "known" | "guessed" | "every";
    readonly name: string;
  };
}

/** The name in a row of a registrar of all drivers. */
export const EVERY_DRIVER = "(every driver)";

type Hints = Pick<ClusterReading, "sets" | "pods" | "csiNodes" | "csiDrivers" | "needs">;

/** Finds every registrar's driver: by its socket's path, the words of its pod, or the drivers of its nodes. */
export function nameDrivers(reading: Hints): readonly RegistrarUnit[] {
  const { sets, csiNodes, csiDrivers, needs } = reading;
  const known = new Set(csiDrivers);
  for (const { driver } of needs) known.add(driver);
  for (const drivers of csiNodes?.values() ?? []) for (const name of drivers.keys()) known.add(name);
  const units = sets.flatMap((set) => set.registrars.map((registrar) => ({ set, registrar })));
  const named = new Map<Deployment, string>();
  const onlyFree = (isMeant: (name: string) => boolean) => {
    const taken = new Set(named.values());
    const names = [...known].filter((name) => !taken.has(name) && isMeant(name));
    return names.length === 1 ? names[0] : undefined;
  };
  const ways: readonly ((unit: Omit<RegistrarUnit, "driver">) => string | undefined)[] = [
    // Two DaemonSets may have one driver in the paths of their sockets.
    ({ registrar }) => nameInPath(registrar, known),
    ({ set }) => onlyFree((name) => set.words.has(name)),
    ({ set }) => {
      const nodes = nodesOf(set, reading);
      return onlyFree((name) => nodes.length > 0 && nodes.every((node) => csiNodes?.get(node)?.has(name)));
    },
  ];
  for (const way of ways)
    for (const unit of units) {
      const name = named.get(unit.registrar) ?? way(unit);
      if (name !== undefined) named.set(unit.registrar, name);
    }
  return units.map((unit) => ({ ...unit, driver: driverOf(unit.registrar, named.get(unit.registrar)) }));
}

function driverOf(registrar: Deployment, name: string | undefined): RegistrarUnit["driver"] {
  if (isPattern(registrar.settings.kubeletRegistrationPath)) return { kind: "every", name: EVERY_DRIVER };
  if (name !== undefined) return { kind: "known", name };
  const [path = ""] = socketPathsOf(registrar);
  const segments = path.split(/[/\\]/).filter(Boolean);
  return { kind: "guessed", name: segments.at(-2) ?? segments.at(-1) ?? "(unknown)" };
}

/** The longest name in the path of the socket: 98 of 99 published deployments have it there. */
function nameInPath(registrar: Deployment, known: ReadonlySet<string>): string | undefined {
  const paths = socketPathsOf(registrar);
  return [...known]
    .filter((name) => paths.some((path) => path.includes(name)))
    .sort((one, other) => other.length - one.length)[0];
}

/** The driver's socket on the host: by the volumes, and as kubelet gets it, which may be wrong. */
function socketPathsOf({ settings, mounts }: Deployment): readonly string[] {
  return [onHost(settings.csiAddress, mounts) ?? [], settings.kubeletRegistrationPath].flat();
}

function nodesOf({ uid }: RegistrarSet, { pods }: Hints): readonly string[] {
  return pods.flatMap(({ setUid, node, trouble }) =>
    setUid === uid && trouble === undefined && node !== undefined ? [node] : [],
  );
}
