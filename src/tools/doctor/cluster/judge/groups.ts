import { type About, type Cause, causeKey } from "../../findings/causes";
import { type Advice, check, problem, type Run, type Verdict } from "../../findings/finding";
import { isWhole, listFrom, otherwise, type SeenList, type Truth, truth } from "../../findings/seen";
import { counted, flagsOf, podsText, shellWord } from "../../findings/words";
import type { ClusterTarget } from "../read/cluster";
import type { Attached } from "../read/needs";
import { type ClusterFacts, manifestCause } from "./facts";
import { GONE, isWaitedFor, keyOfPlace, type Place, restartingIn, UNWRITTEN, wordOf } from "./states";
import { endingOf } from "./troubles";

export const NODES_AWAY: Cause = { kind: "nodes-away" };

export type Group = readonly [Place, ...Place[]];
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

/** Judges the places of a driver with the same cause together. */
export function judgeGroups(
  facts: ClusterFacts,
  isMeant: IsMeant,
  judge: (first: Place, group: Group) => Verdict,
): SeenList<Verdict> {
  const keyOf = (place: Place) => `${place.driver} ${causeKey(causeOf(place, facts))}`;
  const groups = facts.places.filter((place) => isMeant(place, facts)).grouped(keyOf);
  const verdictOn = (group: Group) => {
    const [first] = group;
    return { ...judge(first, group), cause: causeOf(first, facts), nodes: nodesOf(group) };
  };
  return groups.map(verdictOn);
}

/** The cause of a place's state: equal for all places that one change would fix. */
export const causeOf = (place: Place, facts: ClusterFacts): Cause =>
  isMissedAway(place, facts)({ yes: () => NODES_AWAY, ...otherwise(() => causeOfState(place, facts)) });

function causeOfState({ state, units, driver }: Place, { manifestCauses }: ClusterFacts): Cause {
  const isUnregistered = wordOf(state) === "unregistered" && !UNWRITTEN.includes(state.why?.word);
  const isOfRegistrar = isUnregistered || restartingIn(state)?.isRegistrar;
  const about = units.some<About | null>({
    yes: ([{ registrar }]) => registrar.about,
    ...otherwise(() => null),
  });
  const manifest = about && manifestCause(about);
  if (isOfRegistrar && manifest && manifestCauses.has(causeKey(manifest))) return manifest;
  const pod = state.why && { object: about?.object, ...state.why };
  return { kind: "trouble", driver, trouble: wordOf(state), ...pod };
}

/** Its node does not report, or something waits on a node that is gone. */
export function isMissedAway(place: Place, facts: ClusterFacts): Truth {
  if (wordOf(place.state) !== "node-away") return truth(false);
  return place.state.why?.word === GONE ? isWaitedFor(place, facts) : truth(true);
}

export function nodesOf(places: readonly Pick<Place, "node">[]): readonly string[] {
  return [...new Set(places.flatMap(({ node }) => node ?? []))];
}

/** `at least ` where a list lacks something. */
const atLeast = (list: SeenList<unknown>): string =>
  isWhole(list)({ yes: () => "", no: () => "", unknown: () => "at least " });

/** What is seen to wait for a driver: `1 pod (shop/a) and at least 1 VolumeAttachment`; empty: nothing. */
export function whoWaits(places: Group, { waitingAt, attachedAt }: ClusterFacts) {
  const keys = listFrom([...new Set(places.map(({ node, driver }) => keyOfPlace({ node, driver })))]);
  const attached = keys.flatMap(attachedAt);
  const pods = keys
    .flatMap(waitingAt)
    .map(({ pod }) => pod)
    .grouped((pod) => pod)
    .sorted(([pod]) => pod);
  const none = otherwise(() => "");
  const ofPods = pods.some({
    yes: (groups) => atLeast(pods) + podsText(groups.map(([pod]) => pod)),
    ...none,
  });
  const ofAttached = attached.some({
    yes: (all) => atLeast(attached) + counted(sumOf(all), "VolumeAttachment"),
    ...none,
  });
  return [ofPods, ofAttached].filter(Boolean).join(" and ");
}

const sumOf = (all: readonly Attached[]) => all.reduce((sum, { attachments }) => sum + attachments, 0);

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
