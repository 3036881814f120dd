import { type Cause, manifestCause } from "../../findings/causes";
import { type Advice, check, judgeAlike, problem, type Run, type Verdicts } from "../../findings/finding";
import { remembered } from "../../findings/grouped";
import type { Told, Words } from "../../findings/opened";
import { type Group, ifYes, type SeenList, type Text, type Truth, words } from "../../findings/seen";
import { flagsOf, shellWord } from "../../findings/words";
import type { ClusterTarget } from "../read/cluster";
import { endingOf } from "../read/describe";
import { keyOfPlace } from "../read/mentions";
import { driverNamed, guessesIn } from "../read/units";
import type { ClusterFacts } from "./facts";
import { causeOfState, inState, isGone, isUnwritten, type Place, reasonIn, restartingIn } from "./state";
import { isWaitedFor } from "./states";
import { ownerKey } from "./troubles";

export const NODES_AWAY: Cause = { kind: "nodes-away" };

type IsMeant = (place: Place, facts: ClusterFacts) => boolean | Truth;
type FixOf = (first: Place, facts: ClusterFacts, group: Group<Place>) => Advice;

/** The problem of each group, with the state's reason behind `lead`. */
export const problemsOf = (facts: ClusterFacts, isMeant: IsMeant, lead: string, fixOf: FixOf) =>
  judgeGroups(facts, placesWhere(facts, isMeant), (first, group) =>
    problem(first.driver, words`${lead}${shortReason(first, facts)}`, fixOf(first, facts, group)),
  );

/** Without the termination message where the finding that it follows from says the same. */
const shortReason = (place: Place, facts: ClusterFacts): SeenList<Text> =>
  manifestCauseOf(place, facts)
    .flatMap(() => restartingIn(place).map((one): Text => endingOf(one)))
    .with(reasonIn(place.state));

export const placeCheck = (code: string, name: string, isMeant: IsMeant, lead: string, fixOf: FixOf) =>
  check<ClusterFacts>(code, name, (facts) => problemsOf(facts, isMeant, lead, fixOf));

export const placesWhere = (facts: ClusterFacts, isMeant: IsMeant): SeenList<Place> =>
  facts.places.filter((place) => isMeant(place, facts));

/** Judges the places of a driver with the same cause together. */
export const judgeGroups = (
  facts: ClusterFacts,
  places: SeenList<Place>,
  judge: (first: Place, group: Group<Place>) => Verdicts,
) => judgeAlike(places, { ...alikeIn(facts), keyOf: () => "" }, (group) => judge(group.first, group));

export function alikeIn(facts: ClusterFacts) {
  const { unitsOfDriver, unitsOfEvery } = facts;
  /** Those that may have a driver's pods; thousands of places have one driver. */
  const setsOf = remembered((driver) =>
    unitsOfDriver(driverNamed(driver))
      .with(unitsOfEvery)
      .with(guessesIn(facts))
      .map(({ set }) => set.uid),
  );
  return {
    causeOf: (place: Place) => causeOf(place, facts),
    setsOf,
  };
}

/** The cause of the state of a place where the node reports: equal for all places that one change would fix. */
export const causeOf = (place: Place, facts: ClusterFacts) =>
  causesOf(place, facts).told<Cause>({ kind: "trouble", driver: place.driver, trouble: "unseen" });

/** The first one counts. */
function causesOf(place: Place, facts: ClusterFacts): SeenList<Cause | Told<Cause>> {
  // What serves it on one node says nothing of another.
  const owners = ifYes(inState("unprovided")(place), () => facts.ownersOf(place).owners);
  return manifestCauseOf(place, facts)
    .with(place.units.flatMap(({ registrar }) => causeOfState(place, registrar.about.object)))
    .with(owners.flatMap((all) => all.flatMap((pod) => causeOfState(place, undefined, ownerKey(pod)))))
    .with(causeOfState(place));
}

/** What `doctor -f` finds in the first of its registrars. */
function manifestCauseOf(place: Place, { isManifestCause }: ClusterFacts): SeenList<Cause> {
  const isUnregistered = inState("unregistered")(place).and(isUnwritten(place).not());
  const isOfRegistrar = restartingIn(place)
    .contains(({ isRegistrar }) => isRegistrar)
    .or(isUnregistered);
  return place.units
    .together()
    .map(({ first }) => manifestCause(first.registrar.about))
    .filter((cause) => isOfRegistrar.and(isManifestCause(cause)));
}

/** Its node does not report, or something waits on a node that is gone. */
export const isMissedAway = (place: Place, facts: ClusterFacts): Truth =>
  inState("node-away")(place).and(isGone(place).not().or(isWaitedFor(place, facts)));

/** What is seen to wait for a driver, behind `lead`: `1 pod (shop/a) and at least 1 VolumeAttachment`; empty: nothing. */
export function whoWaits(places: Group<Place>, facts: ClusterFacts, lead: string): SeenList<Words> {
  const { waitingAt, attachedAt } = facts;
  const apart = places.grouped(({ node, driver }) => keyOfPlace({ node, driver }));
  const ofPods = apart
    .flatMap(({ first }) => waitingAt(first))
    .grouped(({ pod }) => pod)
    .map(({ first }) => first.pod)
    .sorted((pod) => pod)
    .together()
    .map((all) => words`${all.counted("pod")} (${all.named((pod) => pod)})`);
  const ofAttached = apart
    .flatMap(({ first }) => attachedAt(first))
    .together()
    .map((all) => all.counted("VolumeAttachment", (one) => one.attachments));
  return ofPods
    .with(ofAttached)
    .together()
    .map((all) => words`${lead}${all.joined((some) => some, " and ")}`);
}

/** The same for a place's pod, as far as it was seen. */
export const kubectlFor = (
  pods: Place["pods"],
  target: ClusterTarget,
  fix: string,
  verb: string,
  more = "",
) =>
  pods.map(({ name }) => kubectl(fix, target, verb, name, more)).told(kubectl(fix, target, verb, "", more));

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
