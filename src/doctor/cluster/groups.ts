import type { Verdict } from "../findings/finding";
import { grouped } from "../rules/grouped";
import { type ClusterFacts, manifestCause } from "./cluster-facts";
import { reasonKey } from "./place-text";
import type { Place, PlaceState } from "./places";

/** Places of one driver with one cause. */
export interface PlaceGroup<One extends Place = Place> {
  readonly driver: string;
  /** The one that speaks for all. */
  readonly first: One;
  readonly places: readonly One[];
  readonly cause: string;
}

/** Nodes that do not report have one cause, as far as drivers go. */
export const NODES_AWAY = "nodes away";

type StateOf<Kind extends PlaceState["kind"]> = Extract<PlaceState, { readonly kind: Kind }>;
type PlaceIn<Kind extends PlaceState["kind"]> = Place & { readonly state: StateOf<Kind> };

/** The places in one state, those with the same cause together, in the order in which they were found. */
export function groupsIn<Kind extends PlaceState["kind"]>(
  facts: ClusterFacts,
  kind: Kind,
  isMeant: (state: StateOf<Kind>) => boolean = () => true,
): readonly PlaceGroup<PlaceIn<Kind>>[] {
  const isOne = (place: Place): place is PlaceIn<Kind> =>
    place.state.kind === kind && isMeant(place.state as StateOf<Kind>);
  return groupsOf(facts.places.filter(isOne), facts);
}

/** Those of one driver with the same cause together. */
export function groupsOf<One extends Place>(
  places: readonly One[],
  facts: ClusterFacts,
): readonly PlaceGroup<One>[] {
  const groups = grouped(places, (place) => `${place.driver} ${causeOf(place, facts)}`);
  return Array.from(groups.values(), (places) => {
    const [first] = places;
    return { driver: first.driver, first, places, cause: causeOf(first, facts) };
  });
}

/** What lies behind the state of a place: equal for all that one change would mend. */
export function causeOf(place: Place, { manifestFindings }: ClusterFacts): string {
  const { state, unit, driver } = place;
  if (state.kind === "node-away") return NODES_AWAY;
  const cause = unit && manifestCause(unit.registrar.place);
  const isOfRegistrar = state.kind === "unregistered" || (state.kind === "restarting" && state.isRegistrar);
  if (cause !== undefined && isOfRegistrar && manifestFindings.some((finding) => finding.cause === cause))
    return cause;
  return `${driver} ${state.kind} ${reasonKey(place)}`;
}

/** The nodes of a group; a pod that has none is of none. */
export function nodesOf({ places }: Pick<PlaceGroup, "places">): readonly string[] {
  return [...new Set(places.flatMap(({ node }) => node ?? []))];
}

/** A verdict with its cause and its nodes. */
export function ofGroup(verdict: Verdict, group: PlaceGroup): Verdict {
  return { ...verdict, cause: group.cause, nodes: nodesOf(group) };
}
