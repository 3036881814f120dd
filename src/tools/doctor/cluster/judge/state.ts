import type { About, Cause } from "../../findings/causes";
import type { Name, Told } from "../../findings/opened";
import {
  firstSeen,
  type Gap,
  ifYes,
  isWhole,
  lacking,
  lackingIn,
  type Seen,
  type SeenList,
  type Text,
  type Truth,
  toldOf,
  type Unread,
  words,
} from "../../findings/seen";
import { type Alike, describe } from "../read/describe";
import type { Container } from "../read/ending";
import type { PodTrouble, RegistrarPod } from "../read/pod";
import type { RegistrarUnit } from "../read/units";
import { lackText } from "./troubles";

// How a driver stands on a node, and what can be asked of that.

/** Alike a driver is in a state; null: it is healthy. */
const REASONS = {
  registered: null,
  starting: "its registrar, its pod or its node has only just started",
  unregistered: "its pod runs, but kubelet has not registered it",
  "node-away": "the node is not ready",
  unprovided: "no DaemonSet has a registrar for it",
} as const;

type Kind = keyof typeof REASONS | "uncovered" | "duplicate" | PodTrouble["kind"];

const STATE = Symbol("state");

/** Asked by the functions below alone: they know what a pod that was not read leaves open. */
export interface KnownState {
  readonly [STATE]: Inside;
}
/** `uncovered`: something needs it here, and its DaemonSet has no pod here. `duplicate`: several DaemonSets register it. */
interface Inside {
  readonly kind: Kind;
  readonly reason: string | null;
  readonly why?: Alike;
  readonly trouble?: PodTrouble;
  /** The pods that register it, if there are several. */
  readonly twins?: readonly RegistrarPod[];
}
/** `unread`: what could not be read decides on it. */
export type PlaceState = KnownState | Unread;
export type AnyState = Place["state"];

export interface Place {
  readonly driver: Name;
  readonly node: string | undefined;
  readonly state: Seen<KnownState>;
  /** Whether CSINode lists it: kubelet has it, or has had it. Unknown without a node, and of the node-wide registrar, which is no driver. */
  readonly isListed: Truth;
  /** Those of its DaemonSets, in the order of its pods. */
  readonly units: SeenList<RegistrarUnit>;
  /** Those that register it there: those that are not over first, and of these the one that tells the state. */
  readonly pods: SeenList<RegistrarPod>;
}

export type Stateless = Omit<Place, "state">;

export const known = (inside: Inside): KnownState => ({ [STATE]: inside });
export const state = (kind: keyof typeof REASONS): PlaceState => known({ kind, reason: REASONS[kind] });
export const troubled = (trouble: PodTrouble): PlaceState =>
  known({ kind: trouble.kind, ...describe(trouble), trouble });
export const unreadBy = (gap: Gap): Unread => ({ kind: "unread", gap });

/** The check of places that are unread says why. */
export const unseen = (...reasons: readonly (string | null)[]): Unread => {
  const text = reasons.filter(Boolean).join("; ");
  return unreadBy({ part: "csinodes", subject: "", why: { kind: "object", text } });
};
export const unknown = (gaps: readonly Gap[]) => unseen(lackText(gaps));

/** The first state that was seen, whatever the lists before its own lack; without one, the gaps decide. */
export const firstState = (
  states: readonly SeenList<PlaceState>[],
  ...more: readonly (string | null)[]
): PlaceState =>
  firstSeen(...states).some({
    yes: ({ first }) => first,
    no: () => unseen(...more),
    unknown: (gaps) => unseen(lackText(gaps), ...more),
  });

/** By CSINode's word, which stays true whatever else could not be read. */
export const listed = ({ isListed }: Stateless): SeenList<PlaceState> =>
  ifYes(isListed, () => state("registered"));

/** The API's word for a node that no longer exists. */
const GONE = "NotFound";
export const NODE_GONE = known({
  kind: "node-away",
  why: { word: GONE },
  reason: "the node no longer exists",
});
export const isGone = ({ state }: Pick<Place, "state">): Truth =>
  state.is(({ [STATE]: { why } }) => why?.word === GONE);

/** Why CSINode may lack a driver that kubelet has: words, and what they mean. */
const LACKS = {
  Remade:
    "its pod runs, and the node's CSINode was made anew after it had started: kubelet does not write it again",
  NoCSINode:
    "its pod runs, and the node has no CSINode, which was probably deleted: kubelet writes it only when it registers a driver",
};
export const unwritten = (word: keyof typeof LACKS): PlaceState =>
  known({ kind: "unregistered", why: { word }, reason: LACKS[word] });
export const isUnwritten = ({ state }: Pick<Place, "state">): Truth =>
  state.is(({ [STATE]: { why } }) => Object.hasOwn(LACKS, why?.word ?? ""));
/** Kubelet's own word against CSINode, which it wrote before. */
export const DENIED = known({
  kind: "unregistered",
  why: { word: "FailedMount" },
  reason: "kubelet says in its latest events that it does not have the driver",
});
export const isDenied = ({ state }: Pick<Place, "state">): Truth =>
  state.is(({ [STATE]: its }) => its === DENIED[STATE]);

/** These hold whether the node is ready or not. */
export const SETTLED: readonly Kind[] = ["registered", "starting"];

/** CSINode, or a Node, is certain where a pod is unread: it does not say how the pod is. One that has only just started has no trouble. */
const OF_PODS: readonly Kind[] = ["unscheduled", "blocked", "restarting", "failed", "terminating"];
export const inState =
  (...kinds: readonly Kind[]) =>
  ({ state, pods }: Pick<Place, "state" | "pods">): Truth => {
    const isSo = state.is(({ [STATE]: { kind } }) => kinds.includes(kind));
    return kinds.some((kind) => OF_PODS.includes(kind)) ? isSo.or(isWhole(pods).not()) : isSo;
  };

const lookIn =
  <R>(change: (inside: Inside) => R | undefined) =>
  ({ state, pods }: Pick<Place, "state" | "pods">): SeenList<R> =>
    state.items(({ [STATE]: inside }) => change(inside)).with(lackingIn(pods));
export const troubleIn = lookIn(({ trouble }) => trouble);
/** The container of a pod that ends again and again. */
export const restartingIn = lookIn(({ trouble }): Container | undefined =>
  trouble?.kind === "restarting" ? trouble.container : undefined,
);
/** The API's word for why it is so, or ours. */
export const whyIn = lookIn(({ why }) => why?.word);
/** The pods that were seen to register it, if there are several. */
export const twinsIn = lookIn(({ twins }) => twins && { twins });

export const kindIn = (state: AnyState): Told<string> =>
  state.map(({ [STATE]: { kind } }) => kind).told<string>("unseen");
export const causeOfState = (
  { state, driver }: Place,
  object?: About["object"],
  word?: Told<string>,
): SeenList<Told<Cause>> =>
  state.map(({ [STATE]: { kind, why } }) =>
    toldOf<Cause>({
      ...({ kind: "trouble", driver, trouble: kind } as const),
      ...{ ...(why && { object, ...why }), ...(word !== undefined && { word }) },
    }),
  );

export const reasonIn = (state: AnyState): SeenList<Text> =>
  state.map(({ [STATE]: { reason } }) => reason ?? "");
export const sayReason = (state: AnyState) =>
  state({
    seen: ({ [STATE]: { reason } }) => words`${reason ?? ""}`,
    unread: (gap) => lacking([gap], lackOf(gap)),
  });
export const lackOf = ({ why }: Gap): string => (why.kind === "object" ? why.text : "");
/** What is known, where something else decides whether it still is so. */
export const unsureOf = (state: AnyState): Unread =>
  state({ seen: ({ [STATE]: { reason } }) => unseen(reason), unread: unreadBy });
/** Without a pod, though CSINode lists it. */
export const leftBehind = (state: AnyState): SeenList<PlaceState> =>
  state.items(({ [STATE]: inside }) =>
    inside.kind === "uncovered"
      ? known({ ...inside, reason: `${inside.reason}: ${LISTED_STILL}` })
      : undefined,
  );
const LISTED_STILL =
  "CSINode lists the driver still, probably since a pod that is gone, unless a service of the host registers it";

/** An admission policy took the registrar out of the pod. */
export const isWithoutRegistrar = (pod: RegistrarPod, { container }: RegistrarUnit): Truth =>
  pod.running.dropped.contains((name) => name === container);
