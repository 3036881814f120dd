import { list, text, tree } from "../../../kube-api/objects";
import { tagOf } from "../../images/program";
import { type Finding, findingsOf, grouped } from "../findings/finding";
import { reportFindings } from "../findings/report";
import { LOCALHOST } from "../manifest/judge/probes";
import { judgeSwap, readSwap } from "../manifest/judge/swap";
import type { Deployment } from "../manifest/read/deployments";
import { wordsOf } from "../manifest/read/start";
import { CLUSTER_MANIFEST_CHECKS, type ClusterFacts, conclude, manifestsOf } from "./judge/facts";
import { causeOf } from "./judge/groups";
import { needChecks, rights } from "./judge/needs";
import { isWithoutRegistrar, type Place } from "./judge/places";
import { policyChecks, progressOf } from "./judge/policies";
import { architectures, stateChecks } from "./judge/registrations";
import type { ClusterReading } from "./read/cluster";

const CLUSTER_SCHEMA = "registrar.doctor.cluster/1";

export const CLUSTER_CHECKS = [...stateChecks, ...needChecks, ...policyChecks];

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
  const { findings, problemsWithEither } = judgeSwap(both, CLUSTER_MANIFEST_CHECKS);
  const after = { ...facts, swapped: both.after.deployments };
  const found = [...findings, ...findingsOf([rights, architectures], after)];
  return reportOf(after, found, { swap, swapped: both.swapped, problemsWithEither });
}

function reportOf(
  facts: ClusterFacts,
  found: readonly Finding[],
  swapTarget: { swap?: string; swapped?: number; problemsWithEither?: number } = {},
) {
  const { findings, healthy, summary } = reportFindings(found);
  // The first finding of a cause is the one to fix.
  const codes = new Map(found.toReversed().map(({ cause, code }) => [cause, code]));
  const { context = null, node = null, driver = null } = facts.target;
  return {
    schema: CLUSTER_SCHEMA,
    healthy,
    target: { context, node, driver, ...swapTarget },
    drivers: driverRows(facts),
    registrars: registrarRows(facts),
    summary,
    findings: findings.map((finding, index) => ({ ...finding, nodes: found[index]?.nodes ?? [] })),
    nodes: facts.places.map((place) => placeRow(place, codes.get(causeOf(place, facts)))),
  };
}

function driverRows({ units, places, csiDrivers }: ClusterFacts) {
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

function placeRow({ node, driver, state, pod, isListed, need }: Place, code: string | undefined) {
  return {
    node: node ?? null,
    driver,
    state: state.kind,
    reason: state.reason,
    code: code ?? null,
    pod: pod?.name ?? null,
    csiNode: isListed ?? null,
    waitingPods: need?.pods ?? [],
    volumeAttachments: need?.attachments ?? 0,
  };
}

function imageRow({ image, program }: Pick<Deployment, "image" | "program">) {
  return { image, program: program.kind, version: tagOf(image) ?? null };
}
/** A policy took the registrar out. */
const NONE = { image: null, program: null, version: null };

/** Each registrar of each DaemonSet: its image there, and what its pods have. */
function registrarRows(facts: ClusterFacts) {
  const { units, podsOf, swapped } = facts;
  return units
    .map((unit) => {
      const { set, registrar, driver } = unit;
      const { container, place } = registrar;
      const own = (podsOf.get(set.uid) ?? []).map((pod) => ({
        one: pod.running.registrars.find((running) => running.container === container),
        isDropped: isWithoutRegistrar({ pod, unit }),
      }));
      const afterSwap = swapped?.find((one) => one.place === place);
      return {
        daemonSet: set.name,
        container,
        driver: driver.name,
        ...imageRow(registrar),
        pods: withCounts(own.flatMap(({ one, isDropped }) => (one ? imageRow(one) : isDropped ? NONE : []))),
        changed: progressOf(unit, facts),
        metrics: withCounts(
          own.flatMap(({ one }) => (one && (metricsOf(one) ?? (afterSwap && metricsOf(afterSwap)))) ?? []),
        ),
      };
    })
    .toSorted((one, other) => (one.daemonSet < other.daemonSet ? -1 : 1));
}

const withCounts = <Row>(rows: readonly Row[]) =>
  Array.from(grouped(rows, (row) => JSON.stringify(row)).values(), (same) => ({
    ...same[0],
    count: same.length,
  }));

/** Where a registrar of ours serves metrics, and to whom. Undefined: not known, or another program, which has none. */
function metricsOf({ program, settings, source, unseen, pod }: Deployment) {
  if (program.kind !== "ours" || unseen !== undefined || settings.refusal !== undefined) return undefined;
  const { http } = settings;
  if (http === undefined) return { endpoint: null, port: null, reach: "none" } as const;
  const { host = "", port } = http;
  // Such as kube-rbac-proxy, which serves what the loopback address has.
  const upstream = new RegExp(`(?:localhost|127\\.0\\.0\\.1|\\[::1\\]):${port}\\b`);
  const isProxied = () => pod.drivers.some((one) => wordsOf(one).some((word) => upstream.test(word)));
  const isOpen = !LOCALHOST.test(host) || isProxied();
  const { containers, initContainers, hostNetwork } = source.pod;
  const declared = [...list(containers), ...list(initContainers)]
    .flatMap((container) => list(tree(container).ports).map(tree))
    .find(({ containerPort }) => containerPort === port);
  return {
    endpoint: `${host.includes(":") ? `[${host}]` : host}:${port}${settings.metricsPath}`,
    /** By its name a PodMonitor finds it. */
    port: text(declared?.name) || null,
    reach: isOpen ? "cluster" : hostNetwork === true ? "node" : "pod",
  } as const;
}
