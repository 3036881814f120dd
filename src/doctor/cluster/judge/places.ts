import { grouped } from "../../findings/grouped";
import { together } from "../../rules/duplicates";
import type { ClusterReading } from "../read/cluster";
import type { Need } from "../read/needs";
import type { PodTrouble, RegistrarPod } from "../read/pod";
import { EVERY_DRIVER, type RegistrarUnit } from "./driver-names";

/** Why a driver is in a state; null: it is healthy. */
const REASONS = {
  registered: null,
  starting: "its registrar has only just been started",
  unregistered: "its pod runs, and kubelet has not registered it",
  /** Kubelet does not report: CSINode may be outdated. */
  "node-away": "the node is not ready, or not there any more",
  /** Something needs it, and there is no registrar for it anywhere. */
  unprovided: "no DaemonSet has a registrar for it",
  unseen: "whether kubelet has registered it cannot be seen from here",
  dropped: "its pod has no registrar, and no registrar of the whole node runs there",
} as const;

/**
 * How a driver stands on a node. `uncovered`: something needs it here, and its DaemonSet has no pod here. `contradicted`:
 * CSINode and the Node's annotation, by which volumes are attached, have two node IDs. `duplicate`: several pods register it.
 */
export interface PlaceState extends Partial<Pick<PodTrouble, "restarts" | "said">> {
  readonly kind: keyof typeof REASONS | "uncovered" | "contradicted" | "duplicate" | PodTrouble["kind"];
  readonly reason: string | null;
}

export interface Place {
  readonly driver: string;
  /** Undefined: the pod has no node yet. */
  readonly node: string | undefined;
  readonly state: PlaceState;
  /** CSINode lists it: kubelet has it, or has had it. Undefined: CSINodes may not be read. */
  readonly isListed: boolean | undefined;
  readonly unit: RegistrarUnit | undefined;
  readonly pod: RegistrarPod | undefined;
  readonly need: Need | undefined;
}

/** The time in which kubelet calls a registrar and writes CSINode. */
const START_MS = 60_000;

interface Draft extends Pick<Place, "driver" | "node"> {
  readonly pods: { readonly pod: RegistrarPod; readonly unit: RegistrarUnit }[];
  need?: Need;
}

/** Every driver on every node where a registrar's pod, CSINode or a need names it; by node. */
export function placesIn(reading: ClusterReading, units: readonly RegistrarUnit[]): readonly Place[] {
  const drafts = new Map<string, Draft>();
  const draftAt = (node: string | undefined, driver: string, key = `${node} ${driver}`) => {
    const draft = drafts.get(key) ?? { driver, node, pods: [] };
    drafts.set(key, draft);
    return draft;
  };
  const unitsOf = grouped(units, ({ set }) => set.uid);
  for (const pod of reading.pods)
    for (const unit of unitsOf.get(pod.setUid) ?? []) {
      const { name } = unit.driver;
      // Each pod without a node is a place of its own.
      const key = pod.node === undefined ? `${pod.name} ${name}` : undefined;
      draftAt(pod.node, name, key).pods.push({ pod, unit });
    }
  for (const [node, drivers] of reading.csiNodes ?? [])
    for (const driver of drivers.keys()) draftAt(node, driver);
  for (const need of reading.needs) draftAt(need.node, need.driver).need = need;
  const unitsByDriver = grouped(units, ({ driver }) => driver.name);
  const served = nodesServed(reading, unitsOf);
  return [...drafts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { driver, node, pods, need }]) => {
      const unit = pods[0]?.unit ?? unitsByDriver.get(driver)?.[0];
      const isListed = reading.csiNodes && reading.csiNodes.get(node ?? "")?.has(driver) === true;
      const place = { driver, node, isListed, unit, pod: pods[0]?.pod, need };
      const isDropped = pods.length === 1 && isWithoutRegistrar(place) && !served.has(node);
      if (isDropped && pods[0]?.pod.trouble === undefined) return { ...place, state: state("dropped") };
      const names = pods.map(({ pod }) => pod.name);
      return { ...place, state: stateOf(place, names, reading, unitsByDriver) };
    });
}

/** The nodes where a registrar of all drivers runs. */
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
  provided: ReadonlyMap<string, unknown>,
): PlaceState {
  const { node, driver, unit, pod, isListed } = place;
  if (node !== undefined && reading.nodes !== undefined && reading.nodes.get(node)?.isReady !== true)
    return state("node-away");
  if (pod === undefined || unit === undefined) {
    if (isListed !== false) return isListed ? heldTo(place, reading) : state("unseen");
    return provided.has(EVERY_DRIVER) || provided.has(driver)
      ? { kind: "uncovered", reason: `no pod of DaemonSet ${unit?.set.name ?? "?"} is there` }
      : state("unprovided");
  }
  if (podNames.length > 1)
    return { kind: "duplicate", reason: `${together(podNames).join(" ")} register it` };
  if (pod.trouble !== undefined) return pod.trouble;
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
function heldTo(
  { node = "", driver }: Omit<Place, "state">,
  { csiNodes, nodes }: ClusterReading,
): PlaceState {
  const facts = nodes?.get(node);
  const inCsiNode = csiNodes?.get(node)?.get(driver);
  const inAnnotation = facts?.nodeIds.get(driver);
  if (facts === undefined || inCsiNode === inAnnotation) return state("registered");
  const reason = `CSINode has the node ID ${inCsiNode}, and the Node's annotation ${inAnnotation ?? "has none"}`;
  return { kind: "contradicted", reason };
}
