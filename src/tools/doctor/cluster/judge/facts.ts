import type { OurImage } from "../../../recognise/program";
import { MANIFEST_CHECKS } from "../../files/judge/checks";
import type { ManifestFacts, RegistrarContainer } from "../../files/read/registrars";
import { type About, type Cause, causeKey } from "../../findings/causes";
import { type Finding, findingsOf, keyOf } from "../../findings/finding";
import type { SeenList } from "../../findings/seen";
import type { ClusterLists, ClusterReading } from "../read/cluster";
import type { Unprovided } from "../read/owners";
import { placesIn } from "./places";
import { isGuess, nameDrivers, type RegistrarUnit } from "./units";

export type ClusterFacts = ReturnType<typeof conclude>;

/** The drivers that are needed, and that no DaemonSet is known to register. */
export function unprovidedIn(lists: ClusterLists): readonly Unprovided[] {
  const { driver: wanted } = lists.target;
  return [
    ...placed(lists).everywhere.each(({ driver, node, state }) =>
      state.kind === "unprovided" && node !== undefined && driver === (wanted ?? driver)
        ? { driver, node }
        : undefined,
    ),
  ];
}

function placed(lists: ClusterLists) {
  const { waiting, attached, reported } = lists;
  const needs = waiting.map(needOf).with(attached.map(needOf)).with(reported.map(needOf));
  const all = nameDrivers({ ...lists, needs });
  return { all, everywhere: placesIn(lists, all, needs) };
}

/** Names the drivers, and drops all but the one that is asked for. */
export function conclude(reading: ClusterReading) {
  const { target, waiting, attached, reported } = reading;
  const { all, everywhere } = placed(reading);
  const isMeant = (name: string, unit: RegistrarUnit | undefined) =>
    target.driver === undefined || name === target.driver || unit?.driver.kind === "every";
  const units = all.filter((unit) => isMeant(unit.driver.name, unit));
  const named = all.flatMap((unit) => (isGuess(unit) ? undefined : unit.driver.name));
  const guesses = new Set(all.each((unit) => (isGuess(unit) ? unit.driver.name : undefined)));
  const manifests = manifestsOf({ ...reading, units }, reading.images);
  const findings = findingsOf(MANIFEST_CHECKS, manifests);
  const running = runningFindings(reading, manifests);
  const known = new Set(findings.map(keyOf));
  const found = [...findings, ...running.filter((finding) => !known.has(keyOf(finding)))];
  const manifestFindings = leadingFirst(found.filter(({ status }) => status !== "ok"));
  const keyOfNeed = (one: Need) => placeKey(one.node, one.driver);
  return {
    ...reading,
    units,
    places: everywhere.filter(({ driver, unit }) => isMeant(driver, unit)),
    /** Names of all drivers, also of those that are not asked for; some may be missing. */
    driverNames: named
      .with(everywhere.map(({ driver }) => driver).filter((name) => !guesses.has(name)))
      .with(reading.csiDrivers),
    /** Whether the driver of some DaemonSet is not known. */
    hasGuess: guesses.size > 0,
    podsOf: reading.pods.by(({ setUid }) => setUid),
    waitingAt: waiting.by(keyOfNeed),
    attachedAt: attached.by(keyOfNeed),
    reportedAt: reported.by(keyOfNeed),
    /** What `doctor -f` would find in the DaemonSets; the first problem of each registrar is a cause. */
    manifestFindings,
    manifestCauses: new Set(manifestFindings.flatMap(({ cause }) => (cause ? causeKey(cause) : []))),
  };
}

type Need = Readonly<Record<"node" | "driver", string>>;
const needOf = ({ node, driver }: Need): Need => ({ node, driver });
export const placeKey = (node: string | undefined, driver: string): string => `${node} ${driver}`;

/** The DaemonSets' registrars as `doctor -f` has them, if these images are this registrar's. */
export function manifestsOf(
  { units, limitRanges, gaps }: ClusterReading & { readonly units: SeenList<RegistrarUnit> },
  ours: OurImage,
): ManifestFacts {
  const places = new Set(units.each(({ registrar }) => registrar.place));
  const registrars = units.grouped(({ set }) => set.uid).flatMap(([{ set }]) => set.registrarsWith(ours));
  return {
    limitRanges,
    registrars: registrars.filter(({ place }) => places.has(place)),
    gaps: gaps.filter(({ why }) => why.kind !== "list"),
  };
}

/** What `doctor -f` would find in the pods that admission gave this registrar. */
function runningFindings({ pods }: ClusterReading, manifests: ManifestFacts): readonly Finding[] {
  const programs = new Map(manifests.registrars.each(({ place, program }) => [[place, program.kind]]));
  const isGiven = ({ place, program }: RegistrarContainer) =>
    program.kind === "ours" && (programs.get(place) ?? "ours") !== "ours";
  // Pods share what is alike.
  const known = new Set<unknown>();
  const registrars = pods.flatMap(({ running }) => {
    if (known.has(running)) return undefined;
    known.add(running);
    return running.registrars.filter(isGiven);
  });
  return findingsOf(MANIFEST_CHECKS, { ...manifests, gaps: [], registrars });
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
