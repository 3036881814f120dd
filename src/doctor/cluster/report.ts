import { findingsOf } from "../findings/finding";
import { type ReportedFinding, reportFindings, type Summary } from "../findings/report";
import { CLUSTER_CHECKS } from "./checks";
import { type ClusterFacts, conclude } from "./cluster-facts";
import type { ClusterReading } from "./facts";
import { causeOf } from "./groups";
import type { Place } from "./places";

/** Which form the report has: it grows by one when a field goes or means something else, not when one is added. */
export const CLUSTER_SCHEMA = "registrar.doctor.cluster/1";

/** One driver in the whole cluster. */
export interface ClusterDriverRow {
  readonly name: string;
  /** `NAMESPACE/NAME` of the DaemonSets that register it. */
  readonly daemonSets: readonly string[];
  /** On how many nodes it should be or is, and on how many of these it is healthy. */
  readonly nodes: number;
  readonly registered: number;
  /** Whether there is a CSIDriver object; null where that may not be read. */
  readonly csiDriver: boolean | null;
}

/** One driver on one node. */
export interface PlaceRow {
  /** Null for a pod that has no node. */
  readonly node: string | null;
  readonly driver: string;
  readonly state: Place["state"]["kind"];
  /** Null if it is healthy. */
  readonly reason: string | null;
  /** The code of the finding that has the cause, or null. */
  readonly code: string | null;
  /** `NAMESPACE/NAME` of the registrar's pod, or null. */
  readonly pod: string | null;
  /** Whether CSINode has it; null where that may not be read. */
  readonly csiNode: boolean | null;
  /** Pods that wait for its volumes there. */
  readonly waitingPods: readonly string[];
  readonly volumeAttachments: number;
}

/** A finding, and the nodes that it is of. */
export interface ClusterFinding extends ReportedFinding {
  readonly nodes: readonly string[];
}

/** What the doctor has to say of a cluster. Its JSON form is a promise to programs: see docs/doctor.md. */
export interface ClusterReport {
  readonly schema: typeof CLUSTER_SCHEMA;
  /** Everything could be read, and no problem was found; there may be warnings, and things that cannot be seen. */
  readonly healthy: boolean;
  /** Null: not requested. */
  readonly target: {
    readonly context: string | null;
    readonly node: string | null;
    readonly driver: string | null;
  };
  readonly drivers: readonly ClusterDriverRow[];
  readonly summary: Summary;
  readonly findings: readonly ClusterFinding[];
  readonly nodes: readonly PlaceRow[];
}

/** Makes the report on what was read. */
export function reportOnCluster(reading: ClusterReading): ClusterReport {
  const facts = conclude(reading);
  const found = [...facts.manifestFindings, ...findingsOf(CLUSTER_CHECKS, facts)];
  const { findings, healthy, summary } = reportFindings(found);
  const codes = new Map<string | undefined, string>();
  for (const { cause, code } of found) if (!codes.has(cause)) codes.set(cause, code);
  const { context = null, node = null, driver = null } = reading.target;
  return {
    schema: CLUSTER_SCHEMA,
    healthy,
    target: { context, node, driver },
    drivers: driverRows(facts),
    summary,
    findings: findings.map((finding, index) => ({ ...finding, nodes: found[index]?.nodes ?? [] })),
    nodes: facts.places.map((place) => placeRow(place, codes.get(causeOf(place, facts)))),
  };
}

function driverRows({ units, places, csiDrivers }: ClusterFacts): readonly ClusterDriverRow[] {
  const rows = new Map<string, { sets: Set<string>; nodes: number; registered: number }>();
  const rowOf = (name: string) => {
    const row = rows.get(name) ?? { sets: new Set(), nodes: 0, registered: 0 };
    rows.set(name, row);
    return row;
  };
  for (const { driver, set } of units) rowOf(driver.name).sets.add(set.name);
  for (const { driver, state } of places) {
    const row = rowOf(driver);
    row.nodes += 1;
    if (state.kind === "registered") row.registered += 1;
  }
  return [...rows]
    .map(([name, { sets, nodes, registered }]) => ({
      name,
      daemonSets: [...sets],
      nodes,
      registered,
      csiDriver: csiDrivers?.has(name) ?? null,
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

function placeRow(place: Place, code: string | undefined): PlaceRow {
  const { node = null, driver, state, pod, isListed = null, need } = place;
  return {
    node,
    driver,
    state: state.kind,
    reason: state.reason,
    code: code ?? null,
    pod: pod?.name ?? null,
    csiNode: isListed,
    waitingPods: need?.pods ?? [],
    volumeAttachments: need?.attachments ?? 0,
  };
}
