import { findingsOf } from "../findings/finding";
import { grouped } from "../findings/grouped";
import { type Report, type ReportedFinding, reportFindings } from "../findings/report";
import { CLUSTER_CHECKS } from "./checks";
import { type ClusterFacts, conclude } from "./cluster-facts";
import { causeOf } from "./groups";
import type { Place } from "./places";
import type { ClusterReading, ClusterTarget } from "./read-cluster";

/** Which form the report has: it grows by one when a field goes or means something else, not when one is added. */
export const CLUSTER_SCHEMA = "registrar.doctor.cluster/1";

/** One driver in the whole cluster. */
export interface ClusterDriverRow {
  readonly name: string;
  /** `NAMESPACE/NAME` of the DaemonSets that register it. */
  readonly daemonSets: readonly string[];
  /** The number of nodes where it should be or is, and of those where it is healthy. */
  readonly nodes: number;
  readonly registered: number;
  /** Whether there is a CSIDriver object; null: it may not be read. */
  readonly csiDriver: boolean | null;
}

/** One driver on one node. */
export interface PlaceRow {
  /** Null: the pod has no node. */
  readonly node: string | null;
  readonly driver: string;
  readonly state: Place["state"]["kind"];
  /** Null: the driver is healthy. */
  readonly reason: string | null;
  /** The code of the finding that has the cause. */
  readonly code: string | null;
  /** `NAMESPACE/NAME` of the registrar's pod. */
  readonly pod: string | null;
  /** Whether CSINode has it; null: it may not be read. */
  readonly csiNode: boolean | null;
  /** Pods that wait for its volumes there. */
  readonly waitingPods: readonly string[];
  readonly volumeAttachments: number;
}

/** A finding, and its nodes. */
export interface ClusterFinding extends ReportedFinding {
  readonly nodes: readonly string[];
}

/** What the doctor found in a cluster. Its JSON form is a promise to programs: see docs/doctor.md. */
export interface ClusterReport extends Pick<Report, "healthy" | "summary"> {
  readonly schema: typeof CLUSTER_SCHEMA;
  /** Null: not requested. */
  readonly target: { readonly [Name in keyof ClusterTarget]: string | null };
  readonly drivers: readonly ClusterDriverRow[];
  readonly findings: readonly ClusterFinding[];
  readonly nodes: readonly PlaceRow[];
}

export function reportOnCluster(reading: ClusterReading): ClusterReport {
  const facts = conclude(reading);
  const found = [...facts.manifestFindings, ...findingsOf(CLUSTER_CHECKS, facts)];
  const { findings, healthy, summary } = reportFindings(found);
  // The first finding of a cause is the one to fix.
  const codes = new Map(found.toReversed().map(({ cause, code }) => [cause, code]));
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
  const unitsOf = grouped(units, ({ driver }) => driver.name);
  const placesOf = grouped(places, ({ driver }) => driver);
  return [...new Set([...unitsOf.keys(), ...placesOf.keys()])].sort().map((name) => {
    const own = placesOf.get(name) ?? [];
    return {
      name,
      daemonSets: [...new Set(unitsOf.get(name)?.map(({ set }) => set.name))],
      nodes: own.length,
      registered: own.filter(({ state }) => state.kind === "registered").length,
      csiDriver: csiDrivers?.has(name) ?? null,
    };
  });
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
