import { taintText } from "../../../../node-readiness/startup-taint";
import { asFarAsAsked } from "../../findings/least";
import { type Gap, ifYes, isWhole, listFrom, looked, type Truth, truth } from "../../findings/seen";
import type { OwnersOf } from "../read/owners";
import { isYoung, type RegistrarPod } from "../read/pod";
import { isEvery, isGuess, isOneDriver, type RegistrarUnit } from "../read/units";
import { NONE_FITS, repelling, WANTS_NONE, wantsNone } from "./set-wants";
import {
  type AnyState,
  DENIED,
  firstState,
  inState,
  known,
  lackOf,
  leftBehind,
  listed,
  NODE_GONE,
  type Place,
  type PlaceState,
  SETTLED,
  type Stateless,
  state,
  troubled,
  unknown,
  unreadBy,
  unseen,
  unsureOf,
  unwritten,
} from "./state";
import type { Surroundings } from "./surroundings";
import { lackText } from "./troubles";

const NOT_FOUND = "the node-wide registrar has not found it";
/** Kubelet tries a mount again within 2 min 2 s (goroutinemap's exponential backoff), and says that in another event. */
const RETRIED_MS = 180_000;
/** The time in which kubelet calls a registrar and writes CSINode. */
export const START_MS = 60_000;

export function stateOf(place: Stateless, twins: PlaceState | undefined, around: Surroundings): PlaceState {
  // What kubelet said of a container before its node went away is old.
  const isHeard = around.nodeAt(place.node ?? "").contains(({ ready }) => ready !== "Unknown");
  const restarting = place.pods
    .filter(() => isHeard)
    .flatMap(({ trouble }) => trouble)
    .filter(({ kind }) => kind === "restarting")
    .map(troubled);
  return twins ?? firstState([restarting, listFrom([stateByNode(place, around)])]);
}

function stateByNode(place: Stateless, around: Surroundings): PlaceState {
  const found = stateOnNode(place, around);
  if (place.node === undefined) return found;
  const row = around.nodeAt(place.node);
  const its = { state: looked(found), pods: place.pods };
  const lacking = ([gap]: readonly [Gap, ...Gap[]]) => unreadBy(gap);
  const ofYoung = inState(...SETTLED)(its)({
    ...{ yes: () => found, no: () => state("starting"), unknown: lacking },
  });
  const there = row.map((one): PlaceState => {
    if (isYoung(one, around.nowMs)) return ofYoung;
    return one.ready === "True" ? found : state("node-away");
  });
  const byGone = () => isLeft(place, around)({ yes: () => unseen(NO_NODE), no: () => NODE_GONE, unknown });
  const stays = inState("registered")(its)({
    yes: () => listed(place),
    no: () => listFrom<PlaceState>([]),
    unknown: (gaps) => listFrom([lacking(gaps)]),
  });
  const more = lackOf(unsureOf(its.state).gap);
  return firstState([there, ifYes(row.contains().not(), byGone), stays], more);
}

const NO_NODE = "the list of Nodes lacks a node that a CSINode or a running pod names";

/** The lists are of different moments; but Kubernetes removes what is of a deleted Node within minutes. */
const isLeft = ({ node = "", pods }: Stateless, { csiNodeAt }: Surroundings): Truth =>
  csiNodeAt(node)
    .contains()
    .or(pods.contains(({ isOver, runsOn }) => !isOver && runsOn !== undefined));

const MAY_BE_REPLACED = "its pod failed or was deleted, and another may have taken its place";

/** The state of a driver on a node that is ready. */
function stateOnNode(place: Stateless, around: Surroundings): PlaceState {
  const { pods, node = "" } = place;
  const unsure = (gaps: readonly Gap[]) => unseen(lackText(gaps), MAY_BE_REPLACED);
  const ofTrouble = pods.flatMap(({ isOver, trouble }) =>
    trouble.map(troubled).map((known) => {
      const isLast = isWhole(pods).or(!isOver);
      return isLast({ yes: () => known, no: () => known, unknown: unsure });
    }),
  );
  const byListing = (): PlaceState =>
    place.isListed({
      yes: () => stateListed(place, around),
      no: () =>
        pods.some({
          yes: ({ first }) => stateWith(first, place, around),
          ...{ no: () => stateWithout(place, around), unknown },
        }),
      unknown,
    });
  // Only the registrar of all drivers knows which ones there are.
  const ofEvery = (): PlaceState => {
    const isLong = pods.contains(({ started }) => started.contains((ms) => around.nowMs - ms >= START_MS));
    const isLost = hasCsiNode(node, around).not().and(isLong);
    return isLost({ yes: () => unwritten("NoCSINode"), no: () => state("registered"), unknown });
  };
  const settled = isEvery(place)({ yes: ofEvery, no: byListing, unknown });
  return firstState([ofTrouble, listFrom([settled])]);
}

/** The state of a driver that CSINode lists: kubelet leaves an entry there when the driver's socket stays behind. */
function stateListed(place: Stateless, around: Surroundings): PlaceState {
  const { pods, units } = place;
  // Lately, and when the registrar had had its time.
  const isDenied = ({ started }: RegistrarPod) =>
    around
      .waitingAt(place)
      .contains(({ denials }) =>
        denials.contains((deniedMs) =>
          started.contains((ms) => deniedMs >= ms + START_MS).and(around.nowMs - deniedMs < RETRIED_MS),
        ),
      );
  const lacksPod = units.contains().and(pods.contains().not());
  const isLeftThere = isWaitedFor(place, around).and(around.areNamed).and(lacksPod);
  const left = ifYes(isLeftThere, () => stateWithout(place, around)).flatMap((one) =>
    leftBehind(looked(one)),
  );
  const denied = pods.filter(isDenied).map((): PlaceState => DENIED);
  return firstState([denied, left, listed(place)]);
}

/** Something needs the driver there. */
export function isWaitedFor(
  place: Pick<Place, "node" | "driver">,
  { waitingAt, attachedAt }: Pick<Surroundings, "waitingAt" | "attachedAt">,
): Truth {
  return waitingAt(place).contains().or(attachedAt(place).contains());
}

/** No pod of its DaemonSet is there, and CSINode lists it: another pod may serve it. */
export const isDoubted = (place: Place): Truth => inState("uncovered")(place).and(place.isListed);

/** Where another pod serves the driver, CSINode's word counts. */
export function unlessServed(place: Place, ownersOf: OwnersOf): Place {
  const unsure = (gaps: readonly Gap[]) => looked(unseen(NO_OWN, lackText(gaps)));
  const byOthers = (): AnyState => {
    const { owners, rivals } = ownersOf(place);
    const isServed = asFarAsAsked(owners).contains().or(asFarAsAsked(rivals).contains());
    return isServed({ yes: () => looked(state("registered")), no: () => place.state, unknown: unsure });
  };
  const judged = place.state({
    seen: () => isDoubted(place)({ yes: byOthers, no: () => place.state, unknown: unsure }),
    unread: (gap) => looked(unreadBy(gap)),
  });
  return { ...place, state: judged };
}

const NO_OWN = "no pod of its DaemonSet is there";

/** The state of a driver that has no pod on the node. */
function stateWithout(place: Stateless, around: Surroundings): PlaceState {
  const { driver, node = "" } = place;
  const { units, leavingAt, podsAt, nowMs } = around;
  const isOf = (one: RegistrarUnit) => isEvery(one).or(!isGuess(one) && isOneDriver(one.driver, driver));
  const isProvider = (one: RegistrarUnit) => (isGuess(one) ? around.mayBeOther : isOf(one));
  const leaving = units.filter(isOf).flatMap(({ set }) => leavingAt(set, node));
  const isStarting = leaving
    .contains()
    .or(units.contains((one) => truth(isYoung(one.set, nowMs)).and(isOf(one))));
  const uncovered = () => stateUncovered(place, around);
  // A pod that was not read may be there.
  const own = units.filter(isProvider).flatMap(({ set }) => podsAt(set, node));
  const settled = () => isWhole(own)({ yes: uncovered, no: uncovered, unknown });
  const provided = () => isStarting({ yes: () => state("starting"), no: settled, unknown });
  return units.contains(isProvider)({ yes: provided, no: () => state("unprovided"), unknown });
}

/** By the first of its DaemonSets; without one, by the node-wide registrar. */
function stateUncovered({ node = "", units }: Stateless, around: Surroundings): PlaceState {
  const left = (reason: string, word?: string): PlaceState =>
    known({ kind: "uncovered", why: { ...(word && { word }) }, reason });
  const lost = () => unseen("the node has no CSINode");
  const byNodeWide = () => hasCsiNode(node, around)({ yes: () => left(NOT_FOUND), no: lost, unknown });
  const bySet = ({ set }: RegistrarUnit) => {
    const reason = `no pod of DaemonSet ${set.name} is on the node`;
    const alone = () =>
      wantsNone(
        set,
        around.nowMs,
      )({
        yes: () => left(`${reason}: ${NONE_FITS}`, WANTS_NONE),
        no: () => left(reason),
        unknown: (gaps) => unseen(lackText(gaps), reason),
      });
    const taints = around.nodeAt(node).flatMap((one) => repelling(set, one).map(taintText));
    const because = (word: string) => `${reason}, and the set does not tolerate the node's taint ${word}`;
    return taints.some({
      yes: ({ first: word }) => left(because(word), word),
      no: alone,
      unknown: (gaps) => unseen(lackText(gaps), reason),
    });
  };
  return units.some({ yes: ({ first }) => bySet(first), no: byNodeWide, unknown });
}

const hasCsiNode = (node: string, { csiNodeAt }: Surroundings) => csiNodeAt(node).contains();

const WHICH = "doctor does not know which container of its pod is the registrar";
const NOT_RUNNING = "its registrar's container does not run, and kubelet does not report why";

/** The state of a driver whose pod is on the node, and that is not listed. */
function stateWith(pod: RegistrarPod, { node = "" }: Stateless, around: Surroundings): PlaceState {
  const csiNode = around.csiNodeAt(node);
  const byStart = (startedMs: number): PlaceState => {
    if (around.nowMs - startedMs < START_MS) return state("starting");
    const isRemade = csiNode.contains(({ createdMs }) => createdMs - startedMs >= START_MS);
    const written = () =>
      isRemade({ yes: () => unwritten("Remade"), no: () => state("unregistered"), unknown });
    return csiNode.contains()({ yes: written, no: () => unwritten("NoCSINode"), unknown });
  };
  const still = () => unseen(NOT_RUNNING);
  const idle = isWhole(pod.running.registrars)({
    yes: () => pod.isQuiet({ yes: still, no: () => state("starting"), unknown: still }),
    ...{ no: () => state("starting"), unknown: () => unseen(WHICH) },
  });
  return firstState([pod.started.map(byStart), listFrom([idle])]);
}
