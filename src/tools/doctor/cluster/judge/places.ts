import { grouped, sortedBy } from "../../findings/finding";
import { together } from "../../findings/words";
import type { ClusterReading } from "../read/cluster";
import type { Need } from "../read/needs";
import { CREATION_MS, type PodTrouble, type RegistrarPod } from "../read/pod";
import { EVERY_DRIVER, HINTS, isGuess, notRead, type RegistrarUnit } from "./units";

/** Why a driver is in a state; null: it is healthy. */
const REASONS = {
  registered: null,
  starting: "its registrar, its pod or its node has only just started",
  unregistered: "its pod runs, but kubelet has not registered it",
  "node-away": "the node is not ready or no longer exists",
  unprovided: "no DaemonSet has a registrar for it",
} as const;

/**
 * How a driver stands on a node. `uncovered`: something needs it here, and its DaemonSet has no pod here. `duplicate`: several
 * DaemonSets register it. `unseen`: what could not be read decides on it.
 */
export interface PlaceState extends Partial<Omit<PodTrouble, "kind" | "reason">> {
  readonly kind: keyof typeof REASONS | "unseen" | "uncovered" | "duplicate" | PodTrouble["kind"];
  readonly reason: string | null;
}

export interface Place {
  readonly driver: string;
  readonly node: string | undefined;
  readonly state: PlaceState;
  /** CSINode lists it: kubelet has it, or has had it. Undefined: CSINodes could not be read, or it is not one driver. */
  readonly isListed: boolean | undefined;
  readonly unit: RegistrarUnit | undefined;
  readonly pod: RegistrarPod | undefined;
  readonly need: Need | undefined;
}

type Stateless = Omit<Place, "state">;

const NOT_FOUND = "the node-wide registrar has not found it";
/** The time in which kubelet calls a registrar and writes CSINode. */
const START_MS = 60_000;

type Mention = Pick<Place, "driver" | "node"> & Partial<Pick<Place, "pod" | "unit" | "need">>;

/** What a driver's state is judged by, beside its place. */
interface Surroundings extends ClusterReading {
  readonly unitsOf: ReadonlyMap<string, readonly RegistrarUnit[]>;
  readonly unitsByDriver: ReadonlyMap<string, readonly RegistrarUnit[]>;
}

export function placesIn(reading: ClusterReading, units: readonly RegistrarUnit[]): readonly Place[] {
  const unitsOf = grouped(units, ({ set }) => set.uid);
  const unitsByDriver = grouped(units, ({ driver }) => driver.name);
  const around = { ...reading, unitsOf, unitsByDriver };
  const mentions: readonly Mention[] = [
    ...reading.pods.flatMap((pod) =>
      (unitsOf.get(pod.setUid) ?? []).map((unit) => ({
        ...{ driver: unit.driver.name, node: pod.node, pod, unit },
      })),
    ),
    ...[...(reading.csiNodes ?? [])].flatMap(([node, drivers]) =>
      Array.from(drivers, (driver) => ({ driver, node })),
    ),
    ...reading.needs.map((need) => ({ driver: need.driver, node: need.node, need })),
  ];
  // Each pod without a node is a place of its own.
  const keyOf = ({ node, pod, driver }: Mention) => JSON.stringify([node ?? pod?.name, driver]);
  return sortedBy(grouped(mentions, keyOf), ([key]) => key).map(([, mentioned]) =>
    placeOf(mentioned, around),
  );
}

function placeOf(mentioned: readonly [Mention, ...Mention[]], around: Surroundings): Place {
  const { driver, node } = mentioned[0];
  const [leading] = mentioned.filter(({ pod }) => pod).sort((one, other) => rankOf(one) - rankOf(other));
  const { pod, unit = around.unitsByDriver.get(driver)?.[0] } = leading ?? {};
  const isListed =
    unit?.driver.kind === "every"
      ? undefined
      : around.csiNodes && around.csiNodes.get(node ?? "")?.has(driver) === true;
  const need = mentioned.find((one) => one.need)?.need;
  const place = { driver, node, isListed, unit, pod, need };
  // A DaemonSet that is rolled out with maxSurge has two pods on a node.
  const registering = new Map(mentioned.map((one) => [one.unit?.registrar.place, one.pod?.name]));
  const names = [...registering.values()].filter((name) => name !== undefined);
  return { ...place, state: stateOf(place, names, around) };
}

/** Of two pods of a DaemonSet on a node: the one with a trouble, then the older one. */
function rankOf({ pod }: Mention): number {
  return pod?.trouble ? 0 : (pod?.startedMs ?? Number.MAX_SAFE_INTEGER);
}

/** An admission policy took the registrar out of the pod. */
export function isWithoutRegistrar({ pod, unit }: Pick<Place, "pod" | "unit">): boolean {
  return unit !== undefined && pod?.running.dropped.includes(unit.registrar.container) === true;
}

const state = (kind: keyof typeof REASONS): PlaceState => ({ kind, reason: REASONS[kind] });

const unseen = (why: string): PlaceState => ({ kind: "unseen", reason: why });

function stateOf(place: Stateless, podNames: readonly string[], around: Surroundings): PlaceState {
  const { node, pod } = place;
  const { nodes, nowMs } = around;
  if (podNames.length > 1) return { kind: "duplicate", reason: `${together(podNames)} register it` };
  // What a container said before its node went away is still true.
  if (pod?.trouble?.kind === "restarting") return pod.trouble;
  const row = nodes?.get(node ?? "");
  if (node !== undefined && nodes !== undefined && row?.isReady !== true) return state("node-away");
  const found = stateOnNode(place, around);
  if (SETTLED.includes(found.kind) || node === undefined) return found;
  if (nodes === undefined)
    return unseen(`${notRead(around, "nodes")}${found.reason === null ? "" : `; ${found.reason}`}`);
  return isYoung(row, nowMs) ? state("starting") : found;
}

/** These hold whether the node is ready or not. */
export const SETTLED: readonly PlaceState["kind"][] = ["registered", "starting", "unseen"];

/** Created so recently that what it needs may still be on its way. */
export const isYoung = (object: { readonly createdMs: number } | undefined, nowMs: number): boolean =>
  object !== undefined && nowMs - object.createdMs < CREATION_MS;

/** The state of a driver on a node that is ready. */
function stateOnNode(place: Stateless, around: Surroundings) {
  const { unit, pod, isListed } = place;
  if (pod?.trouble !== undefined) return pod.trouble;
  // Only the registrar of all drivers knows which ones there are.
  if (unit?.driver.kind === "every" || isListed === true) return state("registered");
  if (isListed === undefined) return unseen(notRead(around, "csinodes") ?? "");
  return pod === undefined ? stateWithout(place, around) : stateWith(place, around);
}

/** The state of a driver that has no pod on the node, and is not listed. */
function stateWithout({ driver, node, unit }: Stateless, around: Surroundings) {
  const { unitsByDriver: provided, unitsOf, leaving, nowMs } = around;
  const isReplaced = leaving.some(
    (one) => one.node === node && unitsOf.get(one.setUid)?.some((own) => own.driver.name === driver),
  );
  const isNew = [driver, EVERY_DRIVER].some((name) =>
    provided.get(name)?.some(({ set }) => isYoung(set, nowMs)),
  );
  if (isReplaced || isNew) return state("starting");
  const missing = notRead(around, "daemonsets", "pods");
  if (missing !== undefined) return unseen(missing);
  const [guess] = provided.has(driver) ? [] : [...provided.values()].flat().filter(isGuess);
  const unnamed = guess && notRead(around, "csidrivers");
  if (unnamed) return unseen(`the driver of DaemonSet ${guess.set.name} is not known, because ${unnamed}`);
  if (!provided.has(EVERY_DRIVER) && !provided.has(driver)) return state("unprovided");
  const reason = unit ? `no pod of DaemonSet ${unit.set.name} is on the node` : NOT_FOUND;
  return { kind: "uncovered", reason } as const;
}

/** The state of a driver whose pod is on the node, and that is not listed. */
function stateWith({ node, unit, pod }: Stateless, around: Surroundings) {
  // If the name is a guess, a listed driver without a registrar may be this one.
  if (isGuess(unit)) {
    const others = [...(around.csiNodes?.get(node ?? "") ?? [])];
    const missing = notRead(around, ...HINTS);
    if (missing !== undefined) return unseen(missing);
    if (others.some((name) => !around.unitsByDriver.has(name)))
      return unseen("the driver's name is unknown, and CSINode lists drivers without a known registrar");
  }
  const { startedMs = Number.POSITIVE_INFINITY } = pod ?? {};
  return state(around.nowMs - startedMs < START_MS ? "starting" : "unregistered");
}
