import type { OurImage } from "../../../recognise/program";
import { MANIFEST_CHECKS } from "../../files/judge/checks";
import type { ManifestFacts, RegistrarContainer } from "../../files/read/registrars";
import { type About, type Cause, causeKey } from "../../findings/causes";
import { type Finding, findingsOf, keyOf } from "../../findings/finding";
import { nothing, otherwise, type SeenList } from "../../findings/seen";
import type { ClusterReading } from "../read/cluster";
import { pairLeft } from "./pair-left";
import { placesIn } from "./places";
import { inState, isDoubted, unlessServed, wordOf } from "./states";
import { EVERY_DRIVER, isGuess, type RegistrarUnit } from "./units";

export type ClusterFacts = Awaited<ReturnType<typeof conclude>>;

/** Names the drivers, drops all but the one that is asked for, and looks for owners of those that no DaemonSet registers. */
export async function conclude({ readOwners, readRivals, gaps: gapsOf, ...lists }: ClusterReading) {
  const { target } = lists;
  const byNames = placesIn(lists);
  const pair = pairLeft(byNames);
  const rivals = pair && (await readRivals(pair.node));
  const isOther = rivals?.contains();
  const asByNames = () => byNames;
  const {
    units: all,
    places: allPlaces,
    ...around
  } = isOther?.({ yes: asByNames, no: () => placesIn(lists, pair), unknown: asByNames }) ?? byNames;
  const isMeant = (name: string) => [undefined, name].includes(target.driver) || name === EVERY_DRIVER;
  const units = all.filter((unit) => isMeant(unit.driver.name));
  const allMeant = allPlaces.filter(({ driver }) => isMeant(driver));
  const unowned = allMeant
    .filter(inState("unprovided", "registered"))
    .flatMap((place) => place.units.contains()({ yes: nothing, ...otherwise(() => place) }))
    .with(allMeant.filter(isDoubted))
    .flatMap(({ driver, node, state }) =>
      node === undefined ? undefined : { driver, node, kind: wordOf(state) },
    );
  const ownersOf = await readOwners(unowned);
  const places = allMeant.map((place) =>
    unlessServed(place, ownersOf({ driver: place.driver, kind: wordOf(place.state) })),
  );
  const reading = { ...lists, ownersOf, gaps: gapsOf() };
  const named = all.flatMap((unit) => (isGuess(unit) ? undefined : unit.driver.name));
  const guesses = all.filter(isGuess).by(({ driver }) => driver.name);
  const manifests = manifestsOf({ ...reading, units }, reading.images);
  const findings = findingsOf(MANIFEST_CHECKS, manifests);
  const running = runningFindings(reading, manifests);
  const known = new Set(findings.map(keyOf));
  const found = [...findings, ...running.filter((finding) => !known.has(keyOf(finding)))];
  const manifestFindings = leadingFirst(found.filter(({ status }) => status !== "ok"));
  return {
    ...reading,
    ...around,
    units,
    places,
    /** Names of all drivers, also of those that are not asked for; some may be missing. */
    driverNames: named
      .with(allPlaces.map(({ driver }) => driver).filter((name) => guesses(name).contains().not()))
      .with(reading.csiDrivers),
    /** Whether the driver of some DaemonSet is not known. */
    hasGuess: all.contains(isGuess),
    /** What `doctor -f` would find in the DaemonSets; the first problem of each registrar is a cause. */
    manifestFindings,
    manifestCauses: new Set(manifestFindings.flatMap(({ cause }) => (cause ? causeKey(cause) : []))),
  };
}

/** The DaemonSets' registrars as `doctor -f` has them, if these images are this registrar's. */
export function manifestsOf(
  { units, limitRanges }: Pick<ManifestFacts, "limitRanges"> & { units: SeenList<RegistrarUnit> },
  ours: OurImage,
): ManifestFacts {
  const unitsAt = units.by(({ registrar }) => registrar.place, "unique");
  const registrars = units.grouped(({ set }) => set.uid).flatMap(([{ set }]) => set.registrarsWith(ours));
  return {
    limitRanges,
    registrars: registrars.filter(({ place }) => unitsAt(place).contains()),
    // Another check says which objects could not be read.
    gaps: [],
  };
}

/** What `doctor -f` would find in the pods that admission gave this registrar. */
function runningFindings(
  { pods }: Pick<ClusterReading, "pods">,
  manifests: ManifestFacts,
): readonly Finding[] {
  const ofSetsAt = manifests.registrars.by(({ place }) => place);
  const isGiven = ({ place, program }: RegistrarContainer) =>
    ofSetsAt(place)
      .contains((one) => one.program.kind !== "ours")
      .and(program.kind === "ours");
  // Pods share what is alike.
  const numberOf = numbering();
  const registrars = pods
    .grouped(({ running }) => numberOf(running))
    .flatMap(([{ running }]) => running.registrars);
  return findingsOf(MANIFEST_CHECKS, { ...manifests, registrars: registrars.filter(isGiven) });
}

/** The same for the same object. */
function numbering() {
  const numbers = new Map<object, string>();
  return (one: object): string => {
    numbers.set(one, numbers.get(one) ?? `${numbers.size}`);
    return numbers.get(one) ?? "";
  };
}

/** The first problem of a registrar is the cause of its pods' trouble. */
function leadingFirst(findings: readonly Finding[]): readonly Finding[] {
  const told = new Set<string>();
  return findings.map((one) => {
    const cause = one.status === "problem" && one.about ? manifestCause(one.about) : undefined;
    if (cause === undefined || told.has(causeKey(cause))) return one;
    told.add(causeKey(cause));
    return { ...one, cause };
  });
}

export const manifestCause = ({ object, container = "" }: About): Cause => ({
  kind: "manifest",
  object,
  container,
});
