import type { Verdict } from "../findings/finding";
import { grouped } from "../findings/grouped";
import { type ClusterFacts, manifestCause } from "./cluster-facts";
import { reasonKey } from "./place-text";
import type { Place, PlaceState } from "./places";

/** Nodes that do not report have one cause, as far as drivers go. */
export const NODES_AWAY = "nodes away";

type StateOf<Kind extends PlaceState["kind"]> = Extract<PlaceState, { readonly kind: Kind }>;
type PlaceIn<Kind extends PlaceState["kind"]> = Place & { readonly state: StateOf<Kind> };

/** Says of a group of places what `first` stands for. */
type Judge<One extends Place> = (first: One, places: readonly One[]) => Verdict;

/** Judges the places in one state, those of a driver with the same cause together, in the order in which they were found. */
export function judgeIn<Kind extends PlaceState["kind"]>(
  facts: ClusterFacts,
  kind: Kind,
  judge: Judge<PlaceIn<Kind>>,
  isMeant: (state: StateOf<Kind>) => boolean = () => true,
): readonly Verdict[] {
  const isOne = (place: Place): place is PlaceIn<Kind> =>
    place.state.kind === kind && isMeant(place.state as StateOf<Kind>);
  return judgeGroups(facts.places.filter(isOne), facts, judge);
}

/** Judges places, those of one driver with the same cause together. */
export function judgeGroups<One extends Place>(
  places: readonly One[],
  facts: ClusterFacts,
  judge: Judge<One>,
): readonly Verdict[] {
  const groups = grouped(places, (place) => `${place.driver} ${causeOf(place, facts)}`);
  return Array.from(groups.values(), (group) => {
    const [first] = group;
    return { ...judge(first, group), cause: causeOf(first, facts), nodes: nodesOf(group) };
  });
}

/** What lies behind the state of a place: equal for all that one change would fix. */
export function causeOf(place: Place, { manifestFindings }: ClusterFacts): string {
  const { state, unit, driver } = place;
  if (state.kind === "node-away") return NODES_AWAY;
  const cause = unit && manifestCause(unit.registrar.place);
  const isOfRegistrar = state.kind === "unregistered" || (state.kind === "restarting" && state.isRegistrar);
  if (cause !== undefined && isOfRegistrar && manifestFindings.some((finding) => finding.cause === cause))
    return cause;
  return `${driver} ${state.kind} ${reasonKey(place)}`;
}

/** The nodes of places; a pod that has none is of none. */
export function nodesOf(places: readonly Place[]): readonly string[] {
  return [...new Set(places.flatMap(({ node }) => node ?? []))];
}
