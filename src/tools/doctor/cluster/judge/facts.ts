import type { OurImage } from "../../../recognise/program";
import { MANIFEST_CHECKS } from "../../files/judge/checks";
import type { ManifestFacts } from "../../files/read/registrars";
import { type About, type Cause, causeKey } from "../../findings/causes";
import { type Finding, findingsOf, grouped, keyOf } from "../../findings/finding";
import type { ClusterReading } from "../read/cluster";
import { placesIn } from "./places";
import { isGuess, nameDrivers, type RegistrarUnit } from "./units";

export type ClusterFacts = ReturnType<typeof conclude>;

/** Names the drivers, and drops all but the one that is asked for. */
export function conclude(reading: ClusterReading) {
  const { target } = reading;
  const all = nameDrivers(reading);
  const isMeant = (name: string, unit: RegistrarUnit | undefined) =>
    target.driver === undefined || name === target.driver || unit?.driver.kind === "every";
  const units = all.filter((unit) => isMeant(unit.driver.name, unit));
  const everywhere = placesIn(reading, all);
  const names = [...all.map(({ driver }) => driver.name), ...everywhere.map(({ driver }) => driver)];
  const guesses = all.filter(isGuess).map(({ driver }) => driver.name);
  const places = everywhere.filter(({ driver, unit }) => isMeant(driver, unit));
  const manifests = manifestsOf({ ...reading, units }, reading.images);
  const findings = findingsOf(MANIFEST_CHECKS, manifests);
  const running = runningFindings(reading, manifests);
  const known = new Set(findings.map(keyOf));
  const found = [...findings, ...running.filter((finding) => !known.has(keyOf(finding)))];
  const manifestFindings = leadingFirst(found.filter(({ status }) => status !== "ok"));
  return {
    ...reading,
    units,
    places,
    /** Known names of all drivers, also of those that are not asked for. */
    driverNames: [...new Set([...names, ...(reading.csiDrivers ?? [])])].filter(
      (name) => !guesses.includes(name),
    ),
    /** Whether the driver of some DaemonSet is not known. */
    hasGuess: guesses.length > 0,
    podsOf: grouped(reading.pods, ({ setUid }) => setUid),
    /** What `doctor -f` would find in the DaemonSets; the first problem of each registrar is a cause. */
    manifestFindings,
    manifestCauses: new Set(manifestFindings.flatMap(({ cause }) => (cause ? causeKey(cause) : []))),
  };
}

/** The DaemonSets' registrars as `doctor -f` has them, if these images are this registrar's. */
export function manifestsOf(
  reading: ClusterReading & Pick<ClusterFacts, "units">,
  ours: OurImage,
): ManifestFacts {
  const { units, limitRanges, unreadObjects } = reading;
  const places = units.map(({ registrar }) => registrar.place);
  const sets = [...new Set(units.map(({ set }) => set))];
  return {
    limitRanges,
    registrars: sets.flatMap((set) => set.registrarsWith(ours)).filter(({ place }) => places.includes(place)),
    unread: unreadObjects,
  };
}

/** What `doctor -f` would find in the pods that admission gave this registrar. */
function runningFindings({ pods }: ClusterReading, manifests: ManifestFacts): readonly Finding[] {
  const programs = new Map(manifests.registrars.map(({ place, program }) => [place, program.kind]));
  const given = [...new Set(pods.map(({ running }) => running))]
    .flatMap((running) => running.registrars)
    .filter(({ place, program }) => program.kind === "ours" && (programs.get(place) ?? "ours") !== "ours");
  return findingsOf(MANIFEST_CHECKS, { ...manifests, unread: [], registrars: given });
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
