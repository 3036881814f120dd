import { isPattern } from "../../../../host-path/path-pattern";
import { grouped } from "../../findings/finding";
import { together } from "../../findings/words";
import type { Deployment } from "../../manifest/read/deployments";
import { onHost } from "../../manifest/read/mounts";
import type { ClusterReading } from "../read/cluster";
import type { Need } from "../read/needs";
import type { PodTrouble, RegistrarPod } from "../read/pod";
import type { RegistrarSet } from "../read/set";

/** Why a driver is in a state; null: it is healthy. */
const REASONS = {
  registered: null,
  starting: "its registrar has only just been started",
  unregistered: "its pod runs, and kubelet has not registered it",
  "node-away": "the node is not ready, or not there any more",
  unprovided: "no DaemonSet has a registrar for it",
  unseen: "whether kubelet has registered it cannot be seen from here",
  dropped: "its pod was made without one, and no registrar of the whole node runs there",
} as const;

/**
 * How a driver stands on a node. `uncovered`: something needs it here, and its DaemonSet has no pod here. `contradicted`:
 * CSINode and the Node's annotation, by which volumes are attached, have two node IDs. `duplicate`: several pods register it.
 */
export interface PlaceState extends Pick<PodTrouble, "container" | "blocked"> {
  readonly kind: keyof typeof REASONS | "uncovered" | "contradicted" | "duplicate" | PodTrouble["kind"];
  readonly reason: string | null;
}

export interface Place {
  readonly driver: string;
  readonly node: string | undefined;
  readonly state: PlaceState;
  /** CSINode lists it: kubelet has it, or has had it. Undefined: CSINodes may not be read. */
  readonly isListed: boolean | undefined;
  readonly unit: RegistrarUnit | undefined;
  readonly pod: RegistrarPod | undefined;
  readonly need: Need | undefined;
}

const NOT_FOUND = "the registrar of the whole node has not found it";
/** The time in which kubelet calls a registrar and writes CSINode. */
const START_MS = 60_000;

interface Mention extends Pick<Place, "driver" | "node"> {
  readonly pod?: RegistrarPod;
  readonly unit?: RegistrarUnit;
  readonly need?: Need;
}

export function placesIn(reading: ClusterReading, units: readonly RegistrarUnit[]): readonly Place[] {
  const unitsOf = grouped(units, ({ set }) => set.uid);
  const unitsByDriver = grouped(units, ({ driver }) => driver.name);
  const served = nodesServed(reading, unitsOf);
  const mentions: readonly Mention[] = [
    ...reading.pods.flatMap((pod) =>
      (unitsOf.get(pod.setUid) ?? []).map((unit) => ({
        driver: unit.driver.name,
        node: pod.node,
        pod,
        unit,
      })),
    ),
    ...[...(reading.csiNodes ?? [])].flatMap(([node, drivers]) =>
      Array.from(drivers.keys(), (driver) => ({ driver, node })),
    ),
    ...reading.needs.map((need) => ({ driver: need.driver, node: need.node, need })),
  ];
  // Each pod without a node is a place of its own.
  const keyOf = ({ node, pod, driver }: Mention) => `${node ?? pod?.name} ${driver}`;
  return [...grouped(mentions, keyOf)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, mentioned]) => {
      const [{ driver, node, pod, unit = unitsByDriver.get(driver)?.[0] }] = mentioned;
      const isListed = reading.csiNodes && reading.csiNodes.get(node ?? "")?.has(driver) === true;
      const need = mentioned.find((one) => one.need)?.need;
      const place = { driver, node, isListed, unit, pod, need };
      const names = mentioned.flatMap((one) => one.pod?.name ?? []);
      return { ...place, state: stateOf(place, names, reading, { provided: unitsByDriver, served }) };
    });
}

function nodesServed({ pods }: ClusterReading, unitsOf: ReadonlyMap<string, readonly RegistrarUnit[]>) {
  const serving = pods.filter(
    ({ setUid, trouble, startedMs }) =>
      trouble === undefined &&
      startedMs !== undefined &&
      unitsOf.get(setUid)?.some(({ driver }) => driver.kind === "every"),
  );
  return new Set(serving.map(({ node }) => node));
}

/** An admission policy took the registrar out of the pod. */
export function isWithoutRegistrar({ pod, unit }: Pick<Place, "pod" | "unit">): boolean {
  return unit !== undefined && pod?.running.dropped.includes(unit.registrar.container) === true;
}

const state = (kind: keyof typeof REASONS): PlaceState => ({ kind, reason: REASONS[kind] });

function stateOf(
  place: Omit<Place, "state">,
  podNames: readonly string[],
  reading: ClusterReading,
  { provided, served }: { provided: ReadonlyMap<string, unknown>; served: ReadonlySet<unknown> },
): PlaceState {
  const { node, driver, unit, pod, isListed } = place;
  if (node !== undefined && reading.nodes !== undefined && reading.nodes.get(node)?.isReady !== true)
    return state("node-away");
  if (pod === undefined || unit === undefined) {
    if (isListed !== false) return isListed ? heldTo(place, reading) : state("unseen");
    return provided.has(EVERY_DRIVER) || provided.has(driver)
      ? { kind: "uncovered", reason: unit ? `no pod of DaemonSet ${unit.set.name} is there` : NOT_FOUND }
      : state("unprovided");
  }
  if (podNames.length > 1)
    return { kind: "duplicate", reason: `${together(podNames).join(" ")} register it` };
  if (pod.trouble !== undefined) return pod.trouble;
  if (isWithoutRegistrar(place) && !served.has(node)) return state("dropped");
  // Only the registrar of all drivers knows which ones there are.
  if (unit.driver.kind === "every") return state("registered");
  if (isListed !== false) return isListed ? heldTo(place, reading) : state("unseen");
  // If the name is a guess, a listed driver without a registrar may be this one.
  const others = [...(reading.csiNodes?.get(node ?? "")?.keys() ?? [])];
  if (unit.driver.kind === "guessed" && others.some((name) => !provided.has(name))) return state("unseen");
  const { startedMs } = pod;
  const isRecent = startedMs === undefined || reading.nowMs - startedMs < START_MS;
  return state(isRecent ? "starting" : "unregistered");
}

/** The state of a listed driver: CSINode and the Node's annotation have to agree. */
function heldTo({ node = "", driver }: Omit<Place, "state">, { csiNodes, nodes }: ClusterReading) {
  const facts = nodes?.get(node);
  const inCsiNode = csiNodes?.get(node)?.get(driver);
  const inAnnotation = facts?.nodeIds.get(driver);
  if (facts === undefined || inCsiNode === inAnnotation) return state("registered");
  const reason = `CSINode has the node ID ${inCsiNode}, and the Node's annotation ${inAnnotation ?? "has none"}`;
  return { kind: "contradicted", reason } as const;
}

export interface RegistrarUnit {
  readonly set: RegistrarSet;
  readonly registrar: Deployment;
  /** Only the driver itself tells its name. */
  readonly driver: {
    /** `known`: the cluster has this name; `guessed`: it is the socket's directory; `every`: of all drivers of a node. */
    readonly kind: "known" | "guessed" | "every";
    readonly name: string;
  };
}

export const EVERY_DRIVER = "(every driver)";

type Hints = Pick<ClusterReading, "sets" | "pods" | "csiNodes" | "csiDrivers" | "needs">;

/** Finds every registrar's driver: by its socket's path, the words of its pod, or the drivers of its nodes. */
export function nameDrivers(reading: Hints): readonly RegistrarUnit[] {
  const { sets, csiNodes, csiDrivers, needs } = reading;
  const listed = [...(csiNodes?.values() ?? [])].flatMap((drivers) => [...drivers.keys()]);
  const known = new Set([...(csiDrivers ?? []), ...needs.map(({ driver }) => driver), ...listed]);
  const units = sets.flatMap((set) => set.registrars.map((registrar) => ({ set, registrar })));
  const named = new Map<Deployment, string | undefined>();
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
    for (const unit of units) named.set(unit.registrar, named.get(unit.registrar) ?? way(unit));
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
