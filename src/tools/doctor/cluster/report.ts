import { tagOf } from "../../recognise/image";
import { judgeSwap, readSwap } from "../files/judge/swap";
import type { RegistrarContainer } from "../files/read/registrars";
import { causeKey } from "../findings/causes";
import { type Finding, findingsOf, grouped, sortedBy } from "../findings/finding";
import { CLUSTER_SCHEMA, leadingIn, reportFindings } from "../findings/report";
import { type ClusterFacts, conclude, manifestsOf } from "./judge/facts";
import { causeOf } from "./judge/groups";
import { needChecks, rights } from "./judge/needs";
import { isWithoutRegistrar, type Place } from "./judge/places";
import { stateChecks } from "./judge/registrations";
import { isGuess, notRead, PLACES } from "./judge/units";
import type { ClusterReading } from "./read/cluster";

export const CLUSTER_CHECKS = [...stateChecks, ...needChecks];

export type ClusterReport = ReturnType<typeof reportOnCluster>;

/**
 * What the doctor found in a cluster. Its JSON form is a promise to programs: see docs/doctor.md. With `swap` only the findings
 * that a swap of the official image in the DaemonSets would bring: the image that takes its place; empty: any of ours.
 */
export function reportOnCluster(reading: ClusterReading, swap?: string) {
  const facts = conclude(reading);
  if (swap === undefined)
    return reportOf(facts, [...facts.manifestFindings, ...findingsOf(CLUSTER_CHECKS, facts)]);
  const both = readSwap((ours) => manifestsOf(facts, ours), reading.images);
  const { findings, problemsWithEither } = judgeSwap(both);
  const found = [...findings, ...findingsOf([rights], facts)];
  const counts = { swapped: both.swapped, problemsWithEither };
  const isUnread = notRead(facts, "daemonsets") !== undefined;
  return reportOf(facts, found, {
    swap,
    ...(isUnread ? { swapped: null, problemsWithEither: null } : counts),
  });
}

function reportOf(
  facts: ClusterFacts,
  found: readonly Finding[],
  swapTarget: { swap?: string; swapped?: number | null; problemsWithEither?: number | null } = {},
) {
  const { findings, healthy, summary } = reportFindings(found);
  const leading = leadingIn(found);
  const codeOf = (place: Place) => found[leading.get(causeKey(causeOf(place, facts))) ?? -1]?.code;
  const { context = null, node = null, driver = null } = facts.target;
  return {
    schema: CLUSTER_SCHEMA,
    healthy,
    target: { context, node, driver, ...swapTarget },
    drivers: driverRows(facts),
    registrars: registrarRows(facts),
    summary,
    findings: findings.map((finding) => ({ ...finding, nodes: finding.nodes ?? [] })),
    nodes: facts.places.map((place) => placeRow(place, facts, codeOf(place))),
  };
}

/** Null: what could not be read decides on it. */
function driverRows(facts: ClusterFacts) {
  const { units, places, csiDrivers, csiNodes, target } = facts;
  const isMeant = (name: string) => name === (target.driver ?? name);
  const unitsOf = grouped(units, ({ driver }) => driver.name);
  const placesOf = grouped(places, ({ driver }) => driver);
  // What could not be listed perhaps mentions a driver of which only its CSIDriver is seen.
  const described = notRead(facts, ...PLACES) ? [...(csiDrivers ?? [])] : [];
  return [...new Set([...unitsOf.keys(), ...placesOf.keys(), ...described.filter(isMeant)])]
    .sort()
    .map((name) => {
      const own = placesOf.get(name) ?? [];
      const [unit] = unitsOf.get(name) ?? [];
      const isEvery = unit?.driver.kind === "every";
      const isKnown = isEvery ? !notRead(facts, "pods") : csiNodes !== undefined && !isGuess(unit);
      const there = own.filter(({ state, isListed }) => (isEvery ? state.kind === "registered" : isListed));
      return {
        name,
        daemonSets:
          notRead(facts, "daemonsets") || (unit === undefined && facts.hasGuess)
            ? null
            : [...new Set(unitsOf.get(name)?.map(({ set }) => set.name))],
        nodes: notRead(facts, ...PLACES) ? null : own.length,
        registered: isKnown ? there.length : null,
        csiDriver: isEvery || isGuess(unit) ? null : (csiDrivers?.has(name) ?? null),
        guessed: isGuess(unit),
      };
    });
}

function placeRow(place: Place, facts: ClusterFacts, code: string | undefined) {
  const { node, driver, state, pod, isListed, need } = place;
  return {
    node: node ?? null,
    driver,
    state: state.kind,
    reason: state.reason,
    code: code ?? null,
    pod: pod?.name ?? null,
    csiNode: isGuess(place.unit) ? null : (isListed ?? null),
    waitingPods: notRead(facts, "pods", "events") ? null : (need?.pods ?? []),
    volumeAttachments: notRead(facts, "volumeattachments") ? null : (need?.attachments ?? 0),
  };
}

function imageRow({ image, program }: Pick<RegistrarContainer, "image" | "program">) {
  return { image, program: program.kind, version: tagOf(image) ?? null };
}

/** Each registrar of each DaemonSet: its image there, and what its pods have. */
function registrarRows(facts: ClusterFacts) {
  return sortedBy(facts.units, ({ set }) => set.name).map((unit) => {
    const { set, registrar, driver } = unit;
    const { container } = registrar;
    const own = (facts.podsOf.get(set.uid) ?? []).flatMap((pod) => {
      const one = pod.running.registrars.find((running) => running.container === container);
      if (one !== undefined) return imageRow(one);
      return isWithoutRegistrar({ pod, unit }) ? { image: null, program: null, version: null } : [];
    });
    const pods = notRead(facts, "pods") ? null : withCounts(own);
    const name = { driver: driver.name, guessed: isGuess(unit) };
    return { daemonSet: set.name, container, ...name, ...imageRow(registrar), pods };
  });
}

const withCounts = <Row>(rows: readonly Row[]) =>
  Array.from(grouped(rows, (row) => JSON.stringify(row)).values(), (same) => ({
    ...same[0],
    count: same.length,
  }));
