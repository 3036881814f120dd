import { type Cause, causeKey } from "../../findings/causes";
import { type Advice, check, grouped, problem, type Run, type Verdict } from "../../findings/finding";
import { counted, podsText } from "../../findings/words";
import type { ClusterTarget } from "../read/cluster";
import { type ClusterFacts, manifestCause } from "./facts";
import type { Place } from "./places";

export const NODES_AWAY: Cause = { kind: "nodes-away" };

type IsMeant = (place: Place, facts: ClusterFacts) => boolean;
type FixOf = (first: Place, facts: ClusterFacts) => Advice;

/** The problem of each group, with the state's reason behind `lead`. */
export const problemsOf = (facts: ClusterFacts, isMeant: IsMeant, lead: string, fixOf: FixOf) =>
  judgeGroups(facts, isMeant, (first) =>
    problem(first.driver, `${lead}${reasonOf(first, facts)}`, fixOf(first, facts)),
  );

/** Without the termination message where the finding that it follows from says the same. */
function reasonOf(place: Place, facts: ClusterFacts): string {
  const { reason, ending } = place.state;
  const isSaid = causeOf(place, facts).kind === "manifest";
  return (isSaid && ending) || `${reason}`;
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
  const meant = facts.places.filter((place) => isMeant(place, facts));
  return Array.from(grouped(meant, keyOf).values(), (group) => {
    const [first] = group;
    return { ...judge(first, group), cause: causeOf(first, facts), nodes: nodesOf(group) };
  });
}

/** The cause of a place's state: equal for all places that one change would fix. */
export function causeOf(place: Place, { manifestCauses }: ClusterFacts): Cause {
  const { state, unit, driver } = place;
  if (state.kind === "node-away" && whoWaits([place]) !== "") return NODES_AWAY;
  const isOfRegistrar = state.kind === "unregistered" || state.container?.isRegistrar;
  const manifest = unit && manifestCause(unit.registrar.about);
  if (isOfRegistrar && manifest && manifestCauses.has(causeKey(manifest))) return manifest;
  const pod = state.why && { object: unit?.registrar.about.object, ...state.why };
  return { kind: "trouble", driver, trouble: state.kind, ...pod };
}

export function nodesOf(places: readonly Pick<Place, "node">[]): readonly string[] {
  return [...new Set(places.flatMap(({ node }) => node ?? []))];
}

/** What waits for a driver: `1 pod (shop/a) and 1 VolumeAttachment`; empty: nothing is known to. */
export function whoWaits(places: readonly Place[]): string {
  const needs = places.flatMap(({ need }) => need ?? []);
  const pods = [...new Set(needs.flatMap((need) => need.pods))];
  const attachments = needs.reduce((sum, need) => sum + need.attachments, 0);
  const who = [
    pods.length > 0 ? podsText(pods) : "",
    attachments > 0 ? counted(attachments, "VolumeAttachment") : "",
  ];
  return who.filter(Boolean).join(" and ");
}

export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;

/** What to see of an object, `NAMESPACE/NAME` or `NAME`, in the cluster that was looked at, and the command for it. */
export function kubectl(fix: string, target: ClusterTarget, verb: string, object = "", more = ""): Run {
  return { fix, command: kubectlFor(target, verb, object) + more };
}

/** A command for an object, `NAMESPACE/NAME` or `NAME`, in the cluster that was looked at. */
function kubectlFor({ context, kubeconfig }: ClusterTarget, verb: string, object = ""): string {
  const [name = "", namespace] = object.split("/").toReversed();
  const flags = Object.entries({ kubeconfig, context }).map(([flag, value]) =>
    value === undefined ? "" : ` --${flag}=${shellWord(value)}`,
  );
  return `kubectl${flags.join("")}${namespace === undefined ? "" : ` -n ${namespace}`} ${verb} ${name}`;
}
