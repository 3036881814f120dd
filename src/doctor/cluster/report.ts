import { findingsOf } from "../findings/finding";
import { grouped } from "../findings/grouped";
import { reportFindings } from "../findings/report";
import { CLUSTER_CHECKS } from "./checks";
import { type ClusterFacts, conclude } from "./cluster-facts";
import { causeOf } from "./groups";
import type { Place } from "./places";
import type { ClusterReading } from "./read-cluster";

/** Which form the report has: it grows by one when a field goes or means something else, not when one is added. */
const CLUSTER_SCHEMA = "registrar.doctor.cluster/1";

export type ClusterReport = ReturnType<typeof reportOnCluster>;

/** What the doctor found in a cluster. Its JSON form is a promise to programs: see docs/doctor.md. */
export function reportOnCluster(reading: ClusterReading) {
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

/** A row for each driver in the whole cluster. */
function driverRows({ units, places, csiDrivers }: ClusterFacts) {
  const unitsOf = grouped(units, ({ driver }) => driver.name);
  const placesOf = grouped(places, ({ driver }) => driver);
  return [...new Set([...unitsOf.keys(), ...placesOf.keys()])].sort().map((name) => {
    const own = placesOf.get(name) ?? [];
    return {
      name,
      /** `NAMESPACE/NAME` of the DaemonSets that register it. */
      daemonSets: [...new Set(unitsOf.get(name)?.map(({ set }) => set.name))],
      /** The number of nodes where it should be or is, and of those where it is healthy. */
      nodes: own.length,
      registered: own.filter(({ state }) => state.kind === "registered").length,
      /** Whether there is a CSIDriver object; null: it may not be read. */
      csiDriver: csiDrivers?.has(name) ?? null,
    };
  });
}

function placeRow({ node, driver, state, pod, isListed, need }: Place, code: string | undefined) {
  return {
    /** Null: the pod has no node. */
    node: node ?? null,
    driver,
    state: state.kind,
    /** Null: the driver is healthy. */
    reason: state.reason,
    /** The code of the finding that has the cause. */
    code: code ?? null,
    /** `NAMESPACE/NAME` of the registrar's pod. */
    pod: pod?.name ?? null,
    /** Whether CSINode has it; null: it may not be read. */
    csiNode: isListed ?? null,
    /** Pods that wait for its volumes there. */
    waitingPods: need?.pods ?? [],
    volumeAttachments: need?.attachments ?? 0,
  };
}
