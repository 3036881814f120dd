import { type Finding, findingsOf } from "../findings/finding";
import { MANIFEST_CHECKS } from "../manifest/checks";
import { noAccess } from "../manifest/read-access";
import type { ManifestFacts } from "../manifest/read-deployments";
import { nameDrivers, type RegistrarUnit } from "./driver-names";
import { placesIn } from "./places";
import type { ClusterReading } from "./read-cluster";

export type ClusterFacts = ReturnType<typeof conclude>;

/** These compare objects of one file. In a cluster the pods on a node are compared. */
const OF_FILES_ONLY = ["CSI109", "CSI110", "CSI111", "CSI116"];

/** Names the drivers, and drops all but the one that is asked for. */
export function conclude(reading: ClusterReading) {
  const { target, csiDrivers, csiDriverSpecs } = reading;
  const all = nameDrivers(reading);
  const isMeant = (name: string, unit: RegistrarUnit | undefined) =>
    target.driver === undefined || name === target.driver || unit?.driver.kind === "every";
  const units = all.filter((unit) => isMeant(unit.driver.name, unit));
  const places = placesIn(reading, all).filter(({ driver, unit }) => isMeant(driver, unit));
  const manifests: ManifestFacts = {
    pods: [],
    access: noAccess(),
    deployments: units.map(({ registrar }) => registrar),
    csiDrivers: [...(csiDrivers ?? [])],
    csiDriverSpecs: csiDriverSpecs.filter(({ name }) => isMeant(name, undefined)),
    unread: reading.unreadObjects,
  };
  const checks = MANIFEST_CHECKS.filter(({ code }) => !OF_FILES_ONLY.includes(code));
  const findings = findingsOf(checks, manifests).filter(({ status }) => status !== "ok");
  return {
    ...reading,
    units,
    places,
    /** What `doctor -f` would find in the DaemonSets; the first problem of each registrar has its place as cause. */
    manifestFindings: leadingFirst(findings),
  };
}

/** The first problem of a registrar is the cause of its pods' trouble. */
function leadingFirst(findings: readonly Finding[]): readonly Finding[] {
  const led = new Set<string>();
  return findings.map((finding) => {
    if (finding.status !== "problem" || led.has(finding.subject)) return finding;
    led.add(finding.subject);
    return { ...finding, cause: finding.subject };
  });
}
