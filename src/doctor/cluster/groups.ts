import { type Check, check, type Verdict } from "../findings/finding";
import { grouped } from "../findings/grouped";
import type { ClusterFacts } from "./cluster-facts";
import { reasonKey } from "./place-text";
import type { Place } from "./places";

/** Nodes that do not report have one cause, whatever their drivers are. */
export const NODES_AWAY = "nodes away";

type StateKind = Place["state"]["kind"];

/** Judges a group of places by its first. */
type Judge = (first: Place, facts: ClusterFacts, places: readonly Place[]) => Verdict;

/** A check of the places in these states. */
export function stateCheck(
  code: string,
  name: string,
  kinds: readonly StateKind[],
  judge: Judge,
): Check<ClusterFacts> {
  return check(code, name, (facts) => judgeIn(facts, kinds, judge));
}

/** Judges the places in these states, state by state. */
export function judgeIn(facts: ClusterFacts, kinds: readonly StateKind[], judge: Judge): readonly Verdict[] {
  return kinds.flatMap((kind) => judgeGroups(facts, ({ state }) => state.kind === kind, judge));
}

/** Judges places in the order in which they were found, those of a driver with the same cause together. */
export function judgeGroups(
  facts: ClusterFacts,
  isMeant: (place: Place) => boolean,
  judge: Judge,
): readonly Verdict[] {
  const keyOf = (place: Place) => `${place.driver} ${causeOf(place, facts)}`;
  const groups = grouped(facts.places.filter(isMeant), keyOf).values();
  return Array.from(groups, (group) => {
    const [first] = group;
    return { ...judge(first, facts, group), cause: causeOf(first, facts), nodes: nodesOf(group) };
  });
}

/** The cause of a place's state: equal for all places that one change would fix. */
export function causeOf(place: Place, { manifestFindings }: ClusterFacts): string {
  const { state, unit, driver } = place;
  if (state.kind === "node-away") return NODES_AWAY;
  const isOfRegistrar = state.kind === "unregistered" || state.restarts?.isRegistrar;
  const ofManifest = manifestFindings.find(({ cause }) => cause && cause === unit?.registrar.place)?.cause;
  return (isOfRegistrar && ofManifest) || `${driver} ${state.kind} ${reasonKey(place)}`;
}

/** The names of the places' nodes. */
export function nodesOf(places: readonly Place[]): readonly string[] {
  return [...new Set(places.flatMap(({ node }) => node ?? []))];
}
