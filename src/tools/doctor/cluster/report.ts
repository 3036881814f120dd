import { tagOf } from "../../recognise/image";
import { judgeSwap, readSwap } from "../files/judge/swap";
import type { RegistrarContainer } from "../files/read/registrars";
import { causeKey } from "../findings/causes";
import { type Finding, findingsOf } from "../findings/finding";
import { grouped } from "../findings/grouped";
import { CLUSTER_SCHEMA, leadingIn, reportFindings } from "../findings/report";
import { itemsOf, type SeenList, wholes } from "../findings/seen";
import { type ClusterFacts, conclude, manifestsOf } from "./judge/facts";
import { causeOf } from "./judge/groups";
import { needChecks, objects, rights } from "./judge/needs";
import { stateChecks } from "./judge/registrations";
import { inState, isWithoutRegistrar, keyOfPlace, type Place, wordOf } from "./judge/states";
import { EVERY_DRIVER, isGuess, type RegistrarUnit } from "./judge/units";
import type { ClusterReading } from "./read/cluster";

export const CLUSTER_CHECKS = [...stateChecks, ...needChecks];

export type ClusterReport = Awaited<ReturnType<typeof reportOnCluster>>;

/**
 * What the doctor found in a cluster. Its JSON form is a promise to programs: see docs/doctor.md. With `swap` only the findings
 * that a swap of the official image in the DaemonSets would bring: the image that takes its place; empty: any of ours.
 */
export async function reportOnCluster(reading: ClusterReading, swap?: string) {
  const facts = await conclude(reading);
  if (swap === undefined)
    return reportOf(facts, [...facts.manifestFindings, ...findingsOf(CLUSTER_CHECKS, facts)]);
  const both = readSwap((ours) => manifestsOf(facts, ours), reading.images);
  const { findings, ...counts } = judgeSwap(both);
  return reportOf(facts, [...findings, ...findingsOf([rights, objects], facts)], { swap, ...counts });
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
    nodes: itemsOf(facts.places.map((place) => placeRow(place, facts, codeOf(place)))),
    partial: partialIn(facts),
  };
}

/** The lists that may lack rows: something could not be read, or the driver that is asked for may be one whose name is a guess. */
function partialIn({ units, places, target, hasGuess }: ClusterFacts) {
  const isGuessed = hasGuess.and(target.driver !== undefined)(YES_NO) !== false;
  const lacks = (...lists: readonly SeenList<unknown>[]) =>
    isGuessed || lists.some((list) => orNull(list, () => true) === null);
  const isPartial = { drivers: lacks(units, places), registrars: lacks(units), nodes: lacks(places) };
  return (["drivers", "registrars", "nodes"] as const).filter((name) => isPartial[name]);
}

/** Null: what could not be read decides on it. */
function driverRows(facts: ClusterFacts) {
  const { units, places, pods, csiDrivers, csiNodes, unitsOfDriver } = facts;
  const names = itemsOf(units.map(({ driver }) => driver.name).with(places.map(({ driver }) => driver)));
  const placesOf = places.by(({ driver }) => driver);
  return [...new Set(names)].sort().map((name) => {
    const isEvery = name === EVERY_DRIVER;
    const guessed = isGuessed(unitsOfDriver(name));
    const ofPod = placesOf(name).by(({ pod }) => pod?.uid ?? "", "unique");
    const there: SeenList<unknown> = isEvery
      ? pods.filter(({ uid }) => ofPod(uid).contains(inState("registered")))
      : csiNodes.filter(({ drivers }) => drivers.has(name));
    const sets = unitsOfDriver(name).map(({ set }) => set.name);
    return {
      name,
      daemonSets: sets.contains().not().and(facts.hasGuess)({
        yes: none,
        unknown: none,
        no: () => orNull(sets, (all) => [...new Set(all)]),
      }),
      nodes: orNull(placesOf(name), ({ length }) => length),
      registered: guessed ? null : orNull(there, ({ length }) => length),
      csiDriver: isEvery || guessed ? null : csiDrivers.contains((one) => one === name)(YES_NO),
      guessed,
    };
  });
}

/** What was not read is no guess: it gives no name. */
const isGuessed = (units: SeenList<RegistrarUnit>): boolean => itemsOf(units).some(isGuess);

const none = () => null;
const YES_NO = { yes: () => true, no: () => false, unknown: () => null };
const orNull = <Item, Row>(list: SeenList<Item>, rowOf: (items: readonly Item[]) => Row): Row | null =>
  wholes(list)<Row | null, null>({ seen: ([items]) => rowOf(items), unread: () => null });

function placeRow(place: Place, facts: ClusterFacts, code: string | undefined) {
  const { node, driver, state, pod, isListed } = place;
  const key = keyOfPlace({ node, driver });
  const attachments = facts.attachedAt(key).map((one) => one.attachments);
  return {
    node: node ?? null,
    driver,
    state: wordOf(state),
    reason: state.reason,
    code: code ?? null,
    pod: pod?.name ?? null,
    csiNode: isGuessed(place.units) ? null : (isListed?.(YES_NO) ?? null),
    waitingPods: orNull(facts.waitingAt(key), (all) => all.map((one) => one.pod).sort()),
    volumeAttachments: orNull(attachments, ([one = 0]) => one),
  };
}

interface ImageRow {
  readonly image: string | null;
  readonly program: RegistrarContainer["program"]["kind"] | null;
  readonly version: string | null;
}

const imageRow = ({ image, program }: Pick<RegistrarContainer, "image" | "program">): ImageRow => ({
  image,
  program: program.kind,
  version: tagOf(image) ?? null,
});

/** Each registrar of each DaemonSet: its image there, and what its pods have. */
function registrarRows(facts: ClusterFacts) {
  const rowOf = (unit: RegistrarUnit) => {
    const { set, registrar, driver } = unit;
    const { container } = registrar;
    const own = facts.podsOf(set.uid).flatMap((pod): ImageRow | undefined => {
      const one = pod.running.registrars.find((running) => running.container === container);
      if (one !== undefined) return imageRow(one);
      return isWithoutRegistrar(pod, unit) ? { image: null, program: null, version: null } : undefined;
    });
    const name = { driver: driver.name, guessed: isGuess(unit) };
    return {
      daemonSet: set.name,
      container,
      ...name,
      ...imageRow(registrar),
      pods: orNull(own, withCounts),
    };
  };
  return itemsOf(facts.units.sorted(({ set }) => set.name).map(rowOf));
}

const withCounts = <Row>(rows: readonly Row[]) =>
  Array.from(grouped(rows, (row) => JSON.stringify(row)).values(), (same) => ({
    ...same[0],
    count: same.length,
  }));
