import { tagOf } from "../../recognise/image";
import type { OurImage } from "../../recognise/program";
import { REGISTRAR_CHECKS } from "../files/judge/checks";
import {
  isOurs,
  type KnownRegistrar,
  type ManifestFacts,
  type RegistrarContainer,
} from "../files/read/registrars";
import { judgeSwap, readSwap } from "../files/swap";
import { type Cause, causeKey, manifestCause } from "../findings/causes";
import type { Finding } from "../findings/finding";
import { grouped, sortedBy } from "../findings/grouped";
import { close, itemsOf, keyIn, open, orNull, tell, trueOrNull } from "../findings/opened";
import {
  CLUSTER_SCHEMA,
  findingsOf,
  findingsOfAll,
  keyOf,
  leadingIn,
  reportFindings,
} from "../findings/report";
import { listFrom, type SeenList, type Truth, truth } from "../findings/seen";
import { type ClusterFacts, factsOf, meantIn } from "./judge/facts";
import { causeOf, isMissedAway, NODES_AWAY } from "./judge/groups";
import { needChecks, objects, rights } from "./judge/needs";
import { pairLeft } from "./judge/pair-left";
import { placesIn } from "./judge/places";
import { stateChecks } from "./judge/registrations";
import { inState, isWithoutRegistrar, kindIn, type Place, sayReason } from "./judge/state";
import type { ClusterReading } from "./read/cluster";
import { guessesIn, isEvery, isGuess, type RegistrarUnit } from "./read/units";

export const CLUSTER_CHECKS = [...stateChecks, ...needChecks];

/** Names the drivers, drops all but the one that is asked for, and looks for owners of those that no DaemonSet registers. */
export async function conclude({ readOwners, readRivals, gaps, ...lists }: ClusterReading) {
  const byNames = placesIn(lists);
  const [pair] = itemsOf(pairLeft(byNames));
  const isAlone = pair && orNull(await readRivals(pair.node), ({ length }) => length) === 0;
  const listed = meantIn(isAlone ? placesIn(lists, pair) : byNames);
  const { ownersOf, areListed, sets } = await readOwners(listed.unowned);
  const meant = areListed ? listed : meantIn(placesIn({ ...lists, sets }));
  const manifests = manifestsOf(meant, meant.images);
  const findings = findingsOf(REGISTRAR_CHECKS, manifests);
  const known = new Set(findings.map(keyOf));
  const running = runningFindings(meant, manifests).filter((finding) => !known.has(keyOf(finding)));
  const found = leadingFirst([...findings, ...running].filter(({ status }) => status !== "ok"));
  return factsOf(meant, ownersOf, gaps(), {
    manifestFindings: close({}, found),
    isManifestCause: causesIn(found, manifests),
  });
}

/** Whether one is among these of these registrars; what is not known of its registrar, or of one that was not read, may be it. */
function causesIn(found: readonly Finding[], { registrars }: ManifestFacts) {
  const judgedAs = registrars.by(({ about }) => causeKey(manifestCause(about)));
  const seen = new Set(found.flatMap(({ cause }) => (cause ? causeKey(cause) : [])));
  const doubted = new Map(
    found.flatMap(({ status, about, subject, text }) =>
      status === "unknown" && about ? [[causeKey(manifestCause(about)), { subject, text }] as const] : [],
    ),
  );
  return (cause: Cause): Truth => {
    const { subject, text } = doubted.get(causeKey(cause)) ?? {};
    if (seen.has(causeKey(cause))) return truth(true);
    const isJudged = judgedAs(causeKey(cause)).contains();
    if (subject === undefined || text === undefined)
      return trueOrNull(isJudged) === null ? isJudged : truth(false);
    return truth({ part: "daemonsets", subject, why: { kind: "object", text } });
  };
}

/** The DaemonSets' registrars as `doctor -f` has them, if these images are this registrar's. */
function manifestsOf(
  { units, limitRanges }: Pick<ManifestFacts, "limitRanges"> & { units: SeenList<RegistrarUnit> },
  ours: OurImage,
): ManifestFacts {
  const unitsAt = units.by(({ registrar }) => tell<string>(registrar.place));
  const registrars = units
    .grouped(({ set }) => set.uid)
    .flatMap(({ first: { set } }) => set.registrarsWith(ours));
  return {
    limitRanges,
    registrars: registrars.filter(({ place }) => unitsAt(tell<string>(place)).contains()),
  };
}

/** What `doctor -f` would find in the pods that admission gave this registrar. */
function runningFindings(
  { pods }: Pick<ClusterReading, "pods">,
  manifests: ManifestFacts,
): readonly Finding[] {
  const ofSetsAt = manifests.registrars.by(({ place }) => tell<string>(place));
  const isGiven = (one: RegistrarContainer) =>
    isOurs(one).and(ofSetsAt(tell<string>(one.place)).contains((its) => isOurs(its).not()));
  // Pods share what is alike.
  const alike = [...new Set(itemsOf(pods).map(({ running }) => running))];
  const registrars = listFrom(alike.flatMap((running) => itemsOf(running.registrars)));
  return findingsOf(REGISTRAR_CHECKS, { ...manifests, registrars: registrars.filter(isGiven) });
}

/** The first problem of a registrar is the cause of its pods' trouble. */
function leadingFirst(findings: readonly Finding[]): readonly Finding[] {
  const said = new Set<string>();
  return findings.map((one) => {
    const cause = one.status === "problem" && one.about ? manifestCause(one.about) : undefined;
    if (cause === undefined || said.has(causeKey(cause))) return one;
    said.add(causeKey(cause));
    return { ...one, cause };
  });
}

export type ClusterReport = Awaited<ReturnType<typeof reportOnCluster>>;

/**
 * What the doctor found in a cluster. Its JSON form is a promise to programs: see docs/doctor.md. With `swap` only the findings
 * that a swap of the official image in the DaemonSets would bring: the image that takes its place; empty: any of ours.
 */
export async function reportOnCluster(reading: ClusterReading, swap?: string) {
  const facts = await conclude(reading);
  if (swap === undefined)
    return reportOf(facts, findingsOfAll(CLUSTER_CHECKS, facts, open(facts.manifestFindings)));
  const both = readSwap((ours) => manifestsOf(facts, ours), reading.images);
  const { findings, ...counts } = judgeSwap(both, REGISTRAR_CHECKS);
  return reportOf(facts, [...findings, ...findingsOf([rights, objects], facts)], { swap, ...counts });
}

function reportOf(
  facts: ClusterFacts,
  found: readonly Finding[],
  swapTarget: { swap?: string; swapped?: number | null; problemsWithEither?: number | null } = {},
) {
  const { findings, healthy, summary } = reportFindings(found);
  const leading = leadingIn(found);
  const codeOf = (place: Place) => {
    const isAway = trueOrNull(isMissedAway(place, facts)) === true;
    const cause = isAway ? NODES_AWAY : tell<Cause | undefined>(causeOf(place, facts));
    return cause && found[leading.get(causeKey(cause)) ?? -1]?.code;
  };
  const { context = null, node = null, driver = null } = facts.target;
  return {
    schema: CLUSTER_SCHEMA,
    healthy,
    target: { context, node, driver, ...swapTarget },
    drivers: driverRows(facts),
    registrars: registrarRows(facts),
    summary,
    findings: findings.map((finding) => ({ ...finding, nodes: finding.nodes ?? [] })),
    nodes: itemsOf(facts.places.map((place) => placeRow(place, facts, codeOf(place)))),
    partial: partialIn(facts),
  };
}

/** The lists that may lack rows: something could not be read, or the driver that is asked for may be one whose name is a guess. */
function partialIn(facts: ClusterFacts) {
  const { units, places, target } = facts;
  const isGuessed =
    trueOrNull(
      guessesIn(facts)
        .contains()
        .and(target.driver !== undefined),
    ) !== false;
  const lacks = (...lists: readonly SeenList<unknown>[]) =>
    isGuessed || lists.map((list) => orNull(list, () => true)).includes(null);
  const isPartial = { drivers: lacks(units, places), registrars: lacks(units), nodes: lacks(places) };
  return (["drivers", "registrars", "nodes"] as const).filter((name) => isPartial[name]);
}

/** Null: what could not be read decides on it. */
function driverRows(facts: ClusterFacts) {
  const { units, places, pods, csiDrivers, csiNodes, unitsOfDriver } = facts;
  const all = itemsOf(units.map(({ driver }) => driver).with(places.map(({ driver }) => driver)));
  const placesOf = places.by(({ driver }) => keyIn(driver));
  const drivers = new Map(all.map((driver) => [keyIn(driver), driver]));
  return sortedBy(drivers.values(), keyIn).map((driver) => {
    const key = keyIn(driver);
    const { told: name } = open(driver);
    const ofEvery = trueOrNull(isEvery({ driver })) ?? false;
    const guessed = isGuessed(unitsOfDriver(driver));
    const placeOf = new Map(itemsOf(placesOf(key)).map((place) => [itemsOf(place.pods)[0]?.uid, place]));
    // CSINode lists it there, and a finding says that kubelet does not have it.
    const lost = new Set(
      itemsOf(
        placesOf(key)
          .filter(inState("unregistered", "uncovered"))
          .map(({ node }) => node),
      ),
    );
    const there: SeenList<unknown> = ofEvery
      ? pods.filter(({ uid }) => isRegistered(placeOf.get(uid), placesOf(key)))
      : csiNodes.filter(({ drivers, node }) => drivers.has(name) && !lost.has(node));
    const sets = unitsOfDriver(driver).map(({ set }) => set.name);
    return {
      name,
      daemonSets:
        trueOrNull(sets.contains().not().and(guessesIn(facts).contains())) === false
          ? orNull(sets, (all) => [...new Set(all)])
          : null,
      nodes: orNull(placesOf(key), ({ length }) => length),
      registered: guessed ? null : orNull(there, ({ length }) => length),
      csiDriver: ofEvery || guessed ? null : trueOrNull(csiDrivers.contains((one) => one === name)),
      guessed,
    };
  });
}

/** What was not read is no guess: it gives no name. */
const isGuessed = (units: SeenList<RegistrarUnit>): boolean => itemsOf(units).some(isGuess);

/** A pod has one place at most. */
const isRegistered = (place: Place | undefined, places: SeenList<Place>) =>
  place === undefined ? places.contains(() => false) : inState("registered")(place);

function placeRow(place: Place, facts: ClusterFacts, code: string | undefined) {
  const { node, driver, state, pods, isListed } = place;
  const attachments = facts.attachedAt(place).map((one) => tell(one.attachments));
  return {
    node: node ?? null,
    driver: open(driver).told,
    state: tell<string>(kindIn(state)),
    reason: tell<string>(sayReason(state)) || null,
    code: code ?? null,
    pod: itemsOf(pods)[0]?.name ?? null,
    csiNode:
      isGuessed(place.units) || trueOrNull(isEvery({ driver })) !== false
        ? null
        : trueOrNull(isListed.and(node !== undefined)),
    waitingPods: orNull(facts.waitingAt(place), (all) => all.map((one) => one.pod).sort()),
    volumeAttachments: orNull(attachments, ([one = 0]) => one),
  };
}

interface ImageRow {
  readonly image: string | null;
  readonly program: KnownRegistrar["program"]["kind"] | "unknown" | null;
  readonly version: string | null;
}

const imageRow = ({ reference, program }: Pick<RegistrarContainer, "reference" | "program">): ImageRow => ({
  image: tell(reference),
  program: itemsOf(program.map(({ kind }) => kind))[0] ?? "unknown",
  version: tagOf(tell(reference)) ?? null,
});

/** Each registrar of each DaemonSet: its image there, and what its pods have. */
function registrarRows(facts: ClusterFacts) {
  const rowOf = (unit: RegistrarUnit) => {
    const { set, registrar, driver, container } = unit;
    const own = facts.podsOf(set.uid).flatMap((pod): ImageRow | undefined => {
      const one = itemsOf(pod.running.registrars).find(
        ({ about }) => tell<string>(about.container) === container,
      );
      if (one !== undefined) return imageRow(one);
      return trueOrNull(isWithoutRegistrar(pod, unit))
        ? { image: null, program: null, version: null }
        : undefined;
    });
    const name = { driver: open(driver).told, guessed: isGuess(unit) };
    return {
      daemonSet: set.name,
      container,
      ...name,
      ...imageRow(registrar),
      pods: orNull(own, withCounts),
    };
  };
  return itemsOf(facts.units.sorted(({ set }) => set.name).map(rowOf));
}

const withCounts = <Row>(rows: readonly Row[]) =>
  Array.from(grouped(rows, (row) => JSON.stringify(row)).values(), (same) => ({
    ...same[0],
    count: same.length,
  }));
