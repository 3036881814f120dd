import { type Finding, findingsOf } from "../findings/finding";
import { MANIFEST_CHECKS } from "../manifest/checks";
import type { ManifestFacts } from "../manifest/deployment";
import { nameDrivers, type RegistrarUnit } from "./driver-names";
import type { ClusterReading } from "./facts";
import { type Place, placesIn } from "./places";

/** What was read, and what it comes to: all that the checks of a cluster go by. */
export interface ClusterFacts extends ClusterReading {
  readonly units: readonly RegistrarUnit[];
  readonly places: readonly Place[];
  /** Findings about the DaemonSets themselves, as of a file before it is applied. */
  readonly manifestFindings: readonly Finding[];
}

/** These compare objects of one file; in a cluster the pods on a node are compared, and the objects are all there. */
const OF_FILES_ONLY = ["CSI109", "CSI110", "CSI111"];

/** Names the drivers, and drops all but the one that is asked for. */
export function conclude(reading: ClusterReading): ClusterFacts {
  const { target, csiDrivers } = reading;
  const all = nameDrivers(reading);
  const isMeant = (name: string, unit: RegistrarUnit | undefined) =>
    target.driver === undefined || name === target.driver || unit?.driver.kind === "every";
  const units = all.filter((unit) => isMeant(unit.driver.name, unit));
  const places = placesIn(reading, all).filter(({ driver, unit }) => isMeant(driver, unit));
  const manifests: ManifestFacts = {
    deployments: units.map(({ registrar }) => registrar),
    csiDrivers: [...(csiDrivers ?? [])],
    unread: reading.unreadObjects,
  };
  const checks = MANIFEST_CHECKS.filter(({ code }) => !OF_FILES_ONLY.includes(code));
  const findings = findingsOf(checks, manifests).filter(({ status }) => status !== "ok");
  return { ...reading, units, places, manifestFindings: leadingFirst(findings) };
}

/** Of the problems of one container the first stands for what comes of them: it is the cause of the pods' trouble. */
function leadingFirst(findings: readonly Finding[]): readonly Finding[] {
  const led = new Set<string>();
  return findings.map((finding) => {
    if (finding.status !== "problem" || led.has(finding.subject)) return finding;
    led.add(finding.subject);
    return { ...finding, cause: manifestCause(finding.subject) };
  });
}

/** The cause of whatever follows from a mistake in the arguments or volumes of this registrar. */
export function manifestCause(place: string): string {
  return `manifest of ${place}`;
}
