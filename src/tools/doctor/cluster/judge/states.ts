import { taintText } from "../../../../node-readiness/startup-taint";
import type { Closed } from "../../findings/opened";
import { type Gap, isWhole, otherwise, type SeenList, type Truth, truth } from "../../findings/seen";
import type { ClusterReading } from "../read/cluster";
import { keyOfPlace, type Mention } from "../read/mentions";
import type { readNode } from "../read/needs";
import { MOST_NODES } from "../read/owners";
import {
  type Container,
  CREATION_MS,
  isOver,
  LONG_MS,
  type PodTrouble,
  type RegistrarPod,
} from "../read/pod";
import type { RegistrarSet } from "../read/set";
import { EVERY_DRIVER, isGuess, nameDrivers, type Pair, type RegistrarUnit } from "../read/units";
import { type Alike, alikeOf, lackText, sayTrouble } from "./troubles";

/** Alike a driver is in a state; null: it is healthy. */
const REASONS = {
  registered: null,
  starting: "its registrar, its pod or its node has only just started",
  unregistered: "its pod runs, but kubelet has not registered it",
  "node-away": "the node is not ready",
  unprovided: "no DaemonSet has a registrar for it",
} as const;

/**
 * How a driver stands on a node. `uncovered`: something needs it here, and its DaemonSet has no pod here. `duplicate`: several
 * DaemonSets register it. `unread`: what could not be read decides on it.
 */
export type PlaceState =
  | KnownState
  | { readonly kind: "unread"; readonly reason: string; why?: undefined; trouble?: undefined };

interface KnownState {
  readonly kind: keyof typeof REASONS | "uncovered" | "duplicate" | PodTrouble["kind"];
  readonly reason: string | null;
  readonly why?: Alike;
  readonly trouble?: PodTrouble;
}

/** As reports name it: no judge compares it. */
export type Word = string & Closed<"word">;
export const wordOf = (state: PlaceState) => (state.kind === "unread" ? "unseen" : state.kind) as Word;

const UNREAD: Gap = { part: "csinodes", subject: "", why: { kind: "object", text: "" } };

/** The check of places that are unread says why. */
export const inState =
  (...kinds: readonly KnownState["kind"][]) =>
  ({ state }: Pick<Place, "state">): Truth =>
    truth(state.kind === "unread" ? UNREAD : kinds.includes(state.kind));

/** The container of a pod that ends again and again. */
export const restartingIn = ({ trouble }: PlaceState): Container | undefined =>
  trouble?.kind === "restarting" ? trouble.container : undefined;

export interface Place {
  readonly driver: string;
  readonly node: string | undefined;
  readonly state: PlaceState;
  /** Whether CSINode lists it: kubelet has it, or has had it. Undefined: it is not one driver. */
  readonly isListed: Truth | undefined;
  /** The registrar of its pod; without a pod those of its DaemonSets. */
  readonly units: SeenList<RegistrarUnit>;
  readonly pod: RegistrarPod | undefined;
}

export type ClusterLists = Omit<ClusterReading, "readOwners" | "readRivals" | "gaps">;
type Stateless = Omit<Place, "state">;

const NOT_FOUND = "the node-wide registrar has not found it";
/** Kubelet tries a mount again within 2 min 2 s (goroutinemap's exponential backoff), and says that in another event. */
const RETRIED_MS = 180_000;
/** The time in which kubelet calls a registrar and writes CSINode. */
export const START_MS = 60_000;

/** What a driver's state is judged by, beside its place. */
export type Surroundings = ReturnType<typeof surroundingsOf>;

export function surroundingsOf(lists: ClusterLists, needs: SeenList<Mention>, pair: Pair | undefined) {
  const units = nameDrivers({ ...lists, needs }, pair);
  const names = lists.csiDrivers.with(lists.csiNodes.flatMap(({ drivers }) => [...drivers]));
  return {
    ...lists,
    units,
    unitsOfSet: units.by(({ set }) => set.uid),
    unitsOfDriver: units.by(({ driver }) => driver.name),
    podsOf: lists.pods.by(({ setUid }) => setUid),
    podsOn: lists.pods.by(({ node = "" }) => node),
    leavingFrom: lists.leaving.by(({ node = "" }) => node),
    /** A driver whose name is a guess may have one that could not be read. */
    mayBeOther: isWhole(names).and(isWhole(lists.sets)).not(),
    waitingAt: lists.waiting.by(({ node, driver }) => keyOfPlace({ node, driver })),
    attachedAt: lists.attached.by(keyOfPlace),
    /** Whether each of these registers a driver whose name is known. */
    areNamed: units.contains((unit) => isGuess(unit) || unit.driver.name === EVERY_DRIVER).not(),
  };
}

/** An admission policy took the registrar out of the pod. */
export const isWithoutRegistrar = (pod: RegistrarPod, { registrar }: RegistrarUnit): boolean =>
  pod.running.dropped.includes(registrar.container);

const troubled = (trouble: PodTrouble): PlaceState => ({
  ...{ kind: trouble.kind, reason: sayTrouble(trouble), why: alikeOf(trouble), trouble },
});

const state = (kind: keyof typeof REASONS): PlaceState => ({ kind, reason: REASONS[kind] });

const unseen = (...reasons: readonly (string | null)[]): PlaceState => ({
  kind: "unread",
  reason: reasons.filter((reason) => reason !== null).join("; "),
});

export function stateOf(place: Stateless, twins: PlaceState | undefined, around: Surroundings): PlaceState {
  const { node, pod } = place;
  if (twins !== undefined) return twins;
  // What a container said before its node went away is still true.
  if (pod?.trouble?.kind === "restarting") return troubled(pod.trouble);
  const found = stateOnNode(place, around);
  if (node === undefined) return found;
  const row = around.nodeAt(node);
  const isSettled = found.kind === "unread" || SETTLED.includes(found.kind);
  const unlessYoung = (other: () => PlaceState) => () =>
    row.contains((one) => isYoung(one, around.nowMs))({
      ...{ yes: () => (isSettled ? found : state("starting")), ...otherwise(other) },
    });
  const unknown = (gaps: readonly Gap[]) => unseen(lackText(gaps));
  return row.contains(({ isReady }) => isReady)({
    yes: unlessYoung(() => found),
    no: () =>
      row.contains()({
        yes: unlessYoung(() => state("node-away")),
        no: () => isLeft(place, around)({ yes: () => unseen(NO_NODE), no: () => NODE_GONE, unknown }),
        unknown,
      }),
    unknown: (gaps) => (isSettled ? found : unseen(lackText(gaps), found.reason)),
  });
}

/** The API's word for a node that no longer exists. */
export const GONE = "NotFound";
const NODE_GONE = { kind: "node-away", why: { word: GONE }, reason: "the node no longer exists" } as const;

const NO_NODE = "the list of Nodes lacks a node that a CSINode or a running pod names";

/** The lists are of different moments; but Kubernetes removes what is of a deleted Node within minutes. */
const isLeft = ({ node = "", pod }: Stateless, { csiNodeAt }: Surroundings): Truth =>
  csiNodeAt(node)
    .contains()
    .or(pod !== undefined && !isOver(pod));

/** These hold whether the node is ready or not. */
export const SETTLED: readonly KnownState["kind"][] = ["registered", "starting"];

/** Created so recently that what it needs may still be on its way. */
export const isYoung = ({ createdMs }: { readonly createdMs: number }, nowMs: number): boolean =>
  nowMs - createdMs < CREATION_MS;

const MAY_BE_REPLACED = "its pod failed or was deleted, and another may have taken its place";

/** The state of a driver on a node that is ready. */
function stateOnNode(place: Stateless, around: Surroundings): PlaceState {
  const { pod, isListed, node = "" } = place;
  const { trouble } = pod ?? {};
  if (pod && trouble) {
    const known = () => troubled(trouble);
    if (!isOver(pod)) return known();
    const unknown = (gaps: readonly Gap[]) => unseen(lackText(gaps), MAY_BE_REPLACED);
    return isWhole(around.podsOn(node))({ yes: known, no: known, unknown });
  }
  // Only the registrar of all drivers knows which ones there are.
  if (isListed === undefined) {
    const isLong = around.nowMs - (pod?.startedMs ?? around.nowMs) >= START_MS;
    const lost = hasCsiNode(node, around).not().and(isLong);
    const registered = () => state("registered");
    return lost({ yes: () => unwritten(NO_CSI_NODE), ...otherwise(registered) });
  }
  return isListed({
    yes: () => stateListed(place, around),
    no: () => (pod === undefined ? stateWithout(place, around) : stateWith(place, around)),
    unknown: (gaps) => unseen(lackText(gaps)),
  });
}

/** The state of a driver that CSINode lists: kubelet leaves an entry there when the driver's socket stays behind. */
function stateListed(place: Stateless, around: Surroundings): PlaceState {
  const { pod, node = "" } = place;
  const registered = () => state("registered");
  const startedMs = pod?.startedMs ?? Number.POSITIVE_INFINITY;
  // Lately, and when the registrar had had its time.
  const isDenied = around
    .waitingAt(keyOfPlace(place))
    .contains(({ deniedMs = 0 }) => deniedMs >= startedMs + START_MS && around.nowMs - deniedMs < RETRIED_MS);
  if (pod) return isDenied({ yes: () => DENIED, ...otherwise(registered) });
  const lacksPod = place.units.contains().and(isWhole(around.podsOn(node)));
  const isLeft = isWaitedFor(place, around).and(around.areNamed).and(lacksPod);
  const without = () => {
    const found = stateWithout(place, around);
    const still = (): PlaceState => ({ ...found, reason: `${found.reason}: ${LISTED_STILL}` });
    return inState("uncovered")({ state: found })({ yes: still, ...otherwise(registered) });
  };
  return isLeft({ yes: without, ...otherwise(registered) });
}

/** Something needs the driver there. */
export function isWaitedFor(
  { node, driver }: Pick<Place, "node" | "driver">,
  { waitingAt, attachedAt }: Pick<Surroundings, "waitingAt" | "attachedAt">,
): Truth {
  const key = keyOfPlace({ node, driver });
  return waitingAt(key).contains().or(attachedAt(key).contains());
}

/** No pod of its DaemonSet is there, and CSINode lists it: another pod may serve it. */
export const isDoubted = (place: Place): Truth => inState("uncovered")(place).and(place.isListed ?? false);

/** Where another pod serves the driver, CSINode's word counts. */
export function unlessServed(
  place: Place,
  { owners, rivals }: Partial<Record<"owners" | "rivals", SeenList<unknown> | undefined>> = {},
): Place {
  const itself = () => place.state;
  const byOthers = () => {
    if (owners === undefined || rivals === undefined) return unseen(NOT_LOOKED);
    const isServed = owners.contains().or(rivals.contains());
    const unknown = (gaps: readonly Gap[]) => unseen(lackText(gaps));
    return isServed({ no: itself, yes: () => state("registered"), unknown });
  };
  return { ...place, state: isDoubted(place)({ yes: byOthers, ...otherwise(itself) }) };
}

const NOT_LOOKED = `no pod of its DaemonSet is there, and doctor looks on ${MOST_NODES} nodes only for others that may serve it`;

/** The controller lets the pods of every DaemonSet tolerate those that Kubernetes sets. */
const OF_KUBERNETES = /^node\.kubernetes\.io\//;

/** The taints that keep a DaemonSet's pods from a node. What the operator Gt, or one yet to come, tolerates is not known. */
export const repelling = ({ tolerations }: RegistrarSet, { taints }: ReturnType<typeof readNode>) =>
  taints.filter(
    (taint) =>
      !OF_KUBERNETES.test(taint.key) &&
      taint.effect !== "PreferNoSchedule" &&
      !tolerations.some(
        ({ key, operator, value, effect }) =>
          (effect === "" || effect === taint.effect) &&
          (key === taint.key || (key === "" && operator === "Exists")) &&
          (!["", "Equal"].includes(operator) || value === taint.value),
      ),
  );

/** The state of a driver that has no pod on the node, and is not listed. */
function stateWithout(place: Stateless, around: Surroundings): PlaceState {
  const { driver, node = "" } = place;
  const { units, unitsOfSet, podsOn, leavingFrom, nowMs } = around;
  const isOf = (one: RegistrarUnit) => [driver, EVERY_DRIVER].includes(one.driver.name);
  const isProvider = (one: RegistrarUnit) => (isGuess(one) && !isOf(one) ? around.mayBeOther : isOf(one));
  const isReplaced = leavingFrom(node).contains(({ setUid }) => unitsOfSet(setUid).contains(isOf));
  const isStarting = isReplaced.or(units.contains((one) => isOf(one) && isYoung(one.set, nowMs)));
  const unknown = (gaps: readonly Gap[]) => unseen(lackText(gaps));
  const uncovered = () => stateUncovered(place, around);
  const settled = () =>
    units.contains(isProvider)({
      no: () => state("unprovided"),
      unknown,
      // A pod that was not read may be there.
      yes: () => isWhole(podsOn(node))({ yes: uncovered, no: uncovered, unknown }),
    });
  return isStarting({ yes: () => state("starting"), ...otherwise(settled) });
}

/** By the first of its DaemonSets; without one, by the node-wide registrar. */
function stateUncovered({ node = "", units }: Stateless, around: Surroundings): PlaceState {
  const left = (reason: string, word?: string): PlaceState => ({
    ...{ kind: "uncovered", why: { ...(word && { word }) }, reason },
  });
  const byNodeWide = () => {
    const found = () => left(NOT_FOUND);
    const lost = () => unseen("the node has no CSINode");
    return hasCsiNode(node, around)({ yes: found, no: lost, unknown: found });
  };
  const bySet = ({ set }: RegistrarUnit) => {
    const reason = `no pod of DaemonSet ${set.name} is on the node`;
    const taints = around.nodeAt(node).flatMap((one) => repelling(set, one).map(taintText));
    const because = (word: string) => `${reason}, and the set does not tolerate its taint ${word}`;
    const alone = () => left(reason);
    return taints.some({ yes: ({ first: word }) => left(because(word), word), ...otherwise(alone) });
  };
  return units.some({ yes: ({ first }) => bySet(first), ...otherwise(byNodeWide) });
}

const REMADE =
  "its pod runs, and the node's CSINode was made anew after it had started: kubelet does not write it again";
const NO_CSI_NODE =
  "its pod runs, and the node has no CSINode, which was probably deleted: kubelet writes it only when it registers a driver";
/** The reasons why CSINode may lack a driver that kubelet has. */
export const UNWRITTEN: readonly (string | undefined)[] = [REMADE, NO_CSI_NODE];
const unwritten = (reason: string): PlaceState => ({ kind: "unregistered", why: { word: reason }, reason });
/** Kubelet's own word against CSINode, which it wrote before. */
export const DENIED: KnownState = {
  kind: "unregistered",
  why: { word: "FailedMount" },
  reason: "kubelet says in its latest events that it does not have the driver",
};
const LISTED_STILL = "CSINode lists the driver still, probably since a pod that is gone";
const hasCsiNode = (node: string, { csiNodeAt }: Surroundings) => csiNodeAt(node).contains();

const NOT_RUNNING = "its registrar's container does not run, and kubelet does not report why";

/** The state of a driver whose pod is on the node, and that is not listed. */
function stateWith({ node = "", units, pod }: Stateless, around: Surroundings): PlaceState {
  const { startedMs = Number.POSITIVE_INFINITY, quietMs = 0 } = pod ?? {};
  const isRemade = around.csiNodeAt(node).contains(({ createdMs }) => createdMs - startedMs >= START_MS);
  const known = (): PlaceState => {
    if (startedMs === Number.POSITIVE_INFINITY && quietMs >= LONG_MS) return unseen(NOT_RUNNING);
    if (around.nowMs - startedMs < START_MS) return state("starting");
    const unregistered = () => state("unregistered");
    const written = () => isRemade({ yes: () => unwritten(REMADE), ...otherwise(unregistered) });
    const lost = () => unwritten(NO_CSI_NODE);
    return hasCsiNode(node, around)({ yes: written, no: lost, unknown: written });
  };
  // If the name is a guess, a listed driver without a registrar may be this one.
  const hasOther = around.csiNodeAt(node).flatMap(({ drivers }) => [...drivers]);
  const mayBe = around.mayBeOther.or(
    hasOther.contains((name) => around.unitsOfDriver(name).contains().not()),
  );
  return units.contains(isGuess).and(mayBe)({
    no: known,
    yes: () => unseen("the driver's name is unknown, and CSINode lists drivers without a known registrar"),
    unknown: (gaps) => unseen(lackText(gaps)),
  });
}
