import { grouped } from "../../findings/grouped";
import { beyond, type ItemOf, lackingIn, listFrom, looked, type SeenList, truth } from "../../findings/seen";
import { together } from "../../findings/words";
import { type Mention, mentionsByPlace } from "../read/mentions";
import type { RegistrarPod } from "../read/pod";
import { driverNamed, isEvery, type Pair, withFirst } from "../read/units";
import { known, type Place, type PlaceState } from "./state";
import { stateOf } from "./states";
import { type ClusterLists, type Surroundings, surroundingsOf } from "./surroundings";

/** Every driver on every node where it is, should be or is needed. */
export function placesIn(lists: ClusterLists, pair?: Pair) {
  const needOf = ({ node, driver }: Readonly<Record<"node" | "driver", string>>) => ({ node, driver });
  const needs = lists.waiting.map(needOf).with(lists.attached.map(needOf));
  const around = surroundingsOf(lists, needs, pair);
  const ofNeeds = needs.map(({ node, driver }): Mention => ({ node, driver: driverNamed(driver) }));
  const ofPods = lists.pods.flatMap((pod) =>
    around
      .unitsOfSet(pod.setUid)
      .map((unit): Mention => ({ driver: unit.driver, node: pod.meantFor, pod, unit })),
  );
  const ofCsiNodes = lists.csiNodes.flatMap(({ node, drivers }) =>
    Array.from(drivers, (driver): Mention => ({ driver: driverNamed(driver), node })),
  );
  const places = mentionsByPlace(
    ofPods.with<Mention, SeenList<Mention>>(ofCsiNodes).with(ofNeeds),
    lists.nowMs,
  ).map((one) => placeOf(one, around));
  return { ...around, needs, places };
}

function placeOf(
  { mention, all, ...mentions }: ItemOf<ReturnType<typeof mentionsByPlace>>,
  around: Surroundings,
): Place {
  const { driver, node } = mention;
  const units = withFirst(
    around.unitsOfDriver(driver),
    all.flatMap(({ unit }) => unit ?? []),
  );
  const isListed =
    node === undefined
      ? truth(false)
      : around.csiNodeAt(node).contains(({ drivers }) => around.isAmong(driver, drivers));
  const found = all.flatMap(({ pod }) => pod ?? []);
  const podsOn = (name: string) => units.flatMap(({ set }) => around.podsAt(set, name));
  const podsOf = (pods: readonly RegistrarPod[]) =>
    node === undefined ? listFrom(pods) : listFrom(pods).with(lackingIn(podsOn(node)));
  const isNone = isEvery({ driver })
    .or(node === undefined)
    .and(NO_ENTRY);
  const place = { driver, node, isListed: isListed.or(isNone), units, pods: podsOf(found) };
  // Of several pods the leading one tells the state.
  const leading = { ...place, isListed, pods: podsOf(found.slice(0, 1)) };
  return { ...place, state: looked(stateOf(leading, twinsIn(mentions), around)) };
}

/** No CSINode can have it. */
const NO_ENTRY = truth(beyond("csinodes"));

/** Several pods that register a driver on a node. Of a DaemonSet that is rolled out with maxSurge two are there for a while. */
function twinsIn({
  living,
  settled: all,
}: Readonly<Record<"living" | "settled", readonly Mention[]>>): PlaceState | undefined {
  // One that is only meant for the node registers nothing.
  const there = living.filter(({ pod }) => pod?.runsOn !== undefined);
  const ofSets = grouped(there, ({ unit }) => unit?.registrar.place);
  const registering = [...ofSets.values()].flatMap((ones) => {
    const settled = ones.filter((one) => all.includes(one));
    return settled.length > 1 ? settled : [ones[0]];
  });
  if (registering.length < 2) return undefined;
  const twins = registering.flatMap(({ pod }) => pod ?? []);
  const word = ofSets.size === 1 ? ONE_SET : "";
  const names = twins.map(({ name }) => name);
  return known({ kind: "duplicate", why: { word }, twins, reason: `${together(names)} register it` });
}

/** The API's word for what the pods have in common. */
export const ONE_SET = "DaemonSet";
