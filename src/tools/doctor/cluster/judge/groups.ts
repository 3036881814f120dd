import { type Cause, causeKey } from "../../findings/causes";
import { type Advice, check, problem, type Run, type Verdict } from "../../findings/finding";
import type { SeenList, Truth } from "../../findings/seen";
import { counted, flagsOf, podsText, shellWord } from "../../findings/words";
import type { ClusterTarget } from "../read/cluster";
import { type ClusterFacts, manifestCause, placeKey } from "./facts";
import { GONE, lacking, type Place, restartingIn, UNWRITTEN } from "./places";
import { endingOf } from "./troubles";

export const NODES_AWAY: Cause = { kind: "nodes-away" };

type IsMeant = (place: Place, facts: ClusterFacts) => boolean | Truth;
type FixOf = (first: Place, facts: ClusterFacts) => Advice;

/** The problem of each group, with the state's reason behind `lead`. */
export const problemsOf = (facts: ClusterFacts, isMeant: IsMeant, lead: string, fixOf: FixOf) =>
  judgeGroups(facts, isMeant, (first) =>
    problem(first.driver, `${lead}${reasonOf(first, facts)}`, fixOf(first, facts)),
  );

/** Without the termination message where the finding that it follows from says the same. */
function reasonOf(place: Place, facts: ClusterFacts): string {
  const container = restartingIn(place.state);
  const isSaid = causeOf(place, facts).kind === "manifest";
  return isSaid && container ? endingOf(container) : `${place.state.reason}`;
}

export const placeCheck = (code: string, name: string, isMeant: IsMeant, lead: string, fixOf: FixOf) =>
  check<ClusterFacts>(code, name, (facts) => problemsOf(facts, isMeant, lead, fixOf));

export const inState =
  (...kinds: readonly Place["state"]["kind"][]) =>
  ({ state }: Place): boolean =>
    kinds.includes(state.kind);

/** Judges the places of a driver with the same cause together. */
export function judgeGroups(
  facts: ClusterFacts,
  isMeant: IsMeant,
  judge: (first: Place, group: readonly Place[]) => Verdict,
): readonly Verdict[] {
  const keyOf = (place: Place) => `${place.driver} ${causeKey(causeOf(place, facts))}`;
  const groups = facts.places.filter((place) => isMeant(place, facts)).grouped(keyOf);
  const verdictOn = (group: readonly [Place, ...Place[]]) => {
    const [first] = group;
    return { ...judge(first, group), cause: causeOf(first, facts), nodes: nodesOf(group) };
  };
  return [...groups.each(verdictOn)];
}

/** The cause of a place's state: equal for all places that one change would fix. */
export function causeOf(place: Place, facts: ClusterFacts): Cause {
  const { state, unit, driver } = place;
  if (isMissedAway(place, facts)) return NODES_AWAY;
  const isUnregistered = state.kind === "unregistered" && !UNWRITTEN.includes(state.why?.word);
  const isOfRegistrar = isUnregistered || restartingIn(state)?.isRegistrar;
  const manifest = unit && manifestCause(unit.registrar.about);
  if (isOfRegistrar && manifest && facts.manifestCauses.has(causeKey(manifest))) return manifest;
  const pod = state.why && { object: unit?.registrar.about.object, ...state.why };
  return { kind: "trouble", driver, trouble: state.kind, ...pod };
}

/** Its node does not report, or something waits on a node that is gone. */
export const isMissedAway = (place: Place, facts: ClusterFacts): boolean =>
  inState("node-away")(place) && (place.state.why?.word !== GONE || whoWaits([place], facts) !== "");

export function nodesOf(places: readonly Pick<Place, "node">[]): readonly string[] {
  return [...new Set(places.flatMap(({ node }) => node ?? []))];
}

/** `at least ` where a list lacks something. */
const atLeast = (lists: readonly SeenList<unknown>[]): string =>
  lists
    .map((one) => lacking(one)({ yes: () => "", no: () => "", unknown: () => "at least " }))
    .find((word) => word !== "") ?? "";

/** What is seen to wait for a driver: `1 pod (shop/a) and at least 1 VolumeAttachment`; empty: nothing. */
export function whoWaits(places: readonly Place[], { waitingAt, attachedAt }: ClusterFacts): string {
  const keys = [...new Set(places.map(({ node, driver }) => placeKey(node, driver)))];
  const pods = [...new Set(keys.flatMap((key) => [...waitingAt(key).each(({ pod }) => pod)]))].sort();
  const attachments = keys
    .flatMap((key) => [...attachedAt(key).each((one) => one.attachments)])
    .reduce((sum, one) => sum + one, 0);
  const who = [
    pods.length > 0 ? atLeast(keys.map(waitingAt)) + podsText(pods) : "",
    attachments > 0 ? atLeast(keys.map(attachedAt)) + counted(attachments, "VolumeAttachment") : "",
  ];
  return who.filter(Boolean).join(" and ");
}

/** What to see of an object, `NAMESPACE/NAME` or `NAME`, in the cluster that was looked at, and the command for it. */
export function kubectl(
  fix: string,
  { context, kubeconfig }: ClusterTarget,
  verb: string,
  object = "",
  more = "",
): Run {
  const [name = "", namespace] = object.split("/").toReversed();
  const [of, where] = [
    name && ` ${shellWord(name)}`,
    namespace === undefined ? "" : ` -n ${shellWord(namespace)}`,
  ];
  const command = `${["kubectl", ...flagsOf({ kubeconfig, context })].join(" ")}${where} ${verb}${of}${more}`;
  return { fix, command };
}
