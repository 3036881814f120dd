import { grouped } from "../findings/grouped";
import { nameOf, type RegistrarUnit } from "./driver-names";
import type { ClusterReading, Need, PodTrouble, RegistrarPod } from "./facts";

/** How a driver stands on a node. */
export type PlaceState =
  | { readonly kind: "registered" }
  /** Its registrar was started only just now. */
  | { readonly kind: "starting" }
  /** Everything runs, and kubelet has not registered it. */
  | { readonly kind: "unregistered"; readonly sinceMs: number | undefined }
  /** The node is gone, or kubelet does not report: its status may be outdated. */
  | { readonly kind: "node-away" }
  /** Something needs it here, and no pod of its DaemonSet is here. */
  | { readonly kind: "uncovered" }
  /** Something needs it, and there is no registrar for it anywhere. */
  | { readonly kind: "unprovided" }
  /** Kubelet's annotation on the Node, by which volumes are attached, says something else than CSINode. */
  | { readonly kind: "contradicted"; readonly inCsiNode: string; readonly inAnnotation: string | undefined }
  /** More than one pod is there for it. */
  | { readonly kind: "duplicate"; readonly pods: readonly string[] }
  | { readonly kind: "unseen" }
  | PodTrouble;

/** A driver on a node, or, while a pod has none, on no node yet. */
export interface Place {
  readonly driver: string;
  readonly node: string | undefined;
  readonly state: PlaceState;
  /** CSINode lists it: kubelet has it, or has had it. Undefined where CSINodes may not be read. */
  readonly isListed: boolean | undefined;
  readonly unit: RegistrarUnit | undefined;
  readonly pod: RegistrarPod | undefined;
  readonly need: Need | undefined;
}

/** A registrar needs so long to be called by kubelet, and CSINode to be written. */
const START_MS = 60_000;

interface Draft {
  readonly driver: string;
  readonly node: string | undefined;
  readonly pods: { readonly pod: RegistrarPod; readonly unit: RegistrarUnit }[];
  need?: Need;
}

/** Every driver on every node where a registrar's pod, CSINode, or something that waits knows of it; by node. */
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
      const name = nameOf(unit.driver);
      // Pods without a node are not of one place: each is its own.
      draftAt(pod.node, name, pod.node === undefined ? `${pod.name} ${name}` : undefined).pods.push({
        pod,
        unit,
      });
    }
  for (const [node, drivers] of reading.csiNodes ?? [])
    for (const driver of drivers.keys()) draftAt(node, driver);
  for (const need of reading.needs) draftAt(need.node, need.driver).need = need;
  const provided = new Set(units.map(({ driver }) => nameOf(driver)));
  const hasOneForAll = units.some(({ driver }) => driver.kind === "every");
  const sorted = [...drafts].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([, draft]) => {
    const [first] = draft.pods;
    return {
      driver: draft.driver,
      node: draft.node,
      state: stateOf(draft, reading, { provided, hasOneForAll }),
      isListed: isListed(draft, reading),
      unit: first?.unit ?? units.find(({ driver }) => nameOf(driver) === draft.driver),
      pod: first?.pod,
      need: draft.need,
    };
  });
}

function isListed({ node, driver }: Draft, { csiNodes }: ClusterReading): boolean | undefined {
  return csiNodes === undefined ? undefined : node !== undefined && csiNodes.get(node)?.has(driver) === true;
}

function stateOf(
  draft: Draft,
  reading: ClusterReading,
  { provided, hasOneForAll }: { readonly provided: ReadonlySet<string>; readonly hasOneForAll: boolean },
): PlaceState {
  const { node, driver, pods } = draft;
  if (node !== undefined && reading.nodes !== undefined && reading.nodes.get(node)?.isReady !== true)
    return { kind: "node-away" };
  const listed = isListed(draft, reading);
  const [first, second] = pods;
  if (first === undefined) {
    if (listed === true) return heldTo(draft, reading);
    if (listed === undefined) return { kind: "unseen" };
    return { kind: hasOneForAll || provided.has(driver) ? "uncovered" : "unprovided" };
  }
  if (second !== undefined) return { kind: "duplicate", pods: pods.map(({ pod }) => pod.name) };
  const { pod, unit } = first;
  if (pod.trouble !== undefined) return pod.trouble;
  // Which drivers there are only the registrar of all of them knows.
  if (unit.driver.kind === "every") return { kind: "registered" };
  if (listed === undefined) return { kind: "unseen" };
  if (listed) return heldTo(draft, reading);
  // Where the name is a guess, a listed driver without a registrar may be this one.
  const others = [...(reading.csiNodes?.get(node ?? "")?.keys() ?? [])];
  if (unit.driver.kind === "guessed" && others.some((name) => !provided.has(name))) return { kind: "unseen" };
  const { startedMs } = pod;
  if (startedMs === undefined || reading.nowMs - startedMs < START_MS) return { kind: "starting" };
  return { kind: "unregistered", sinceMs: startedMs };
}

/** Whether the driver that CSINode lists is the same in the Node's annotation. */
function heldTo({ node = "", driver }: Draft, { csiNodes, nodes }: ClusterReading): PlaceState {
  const facts = nodes?.get(node);
  const inCsiNode = csiNodes?.get(node)?.get(driver);
  if (facts === undefined || inCsiNode === undefined) return { kind: "registered" };
  const inAnnotation = facts.nodeIds.get(driver);
  return inAnnotation === inCsiNode
    ? { kind: "registered" }
    : { kind: "contradicted", inCsiNode, inAnnotation };
}
