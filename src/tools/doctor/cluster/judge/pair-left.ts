import { asFarAsAsked } from "../../findings/least";
import { type ItemOf, listFrom, type SeenList, wholes } from "../../findings/seen";
import type { RegistrarPod } from "../read/pod";
import { isEvery, isGuess, type Pair, type RegistrarUnit, withoutRegistrar } from "../read/units";
import type { placesIn } from "./places";
import { isWithoutRegistrar } from "./state";
import { START_MS } from "./states";

/**
 * The only registrar whose driver has no name, and the only driver on nodes or needed by them that no registrar is known for, if
 * they cover the same nodes. They belong together unless another pod of `node` registers the driver.
 */
export function pairLeft(named: Named): SeenList<Pair & { readonly node: string }> {
  // A CSIDriver that was not read may be the name of a registrar.
  const { units, csiNodes, needs, pods, leaving, csiDrivers } = named;
  // Of one node that was asked for, its own drivers and pods tell it.
  const asOn = [
    asFarAsAsked(csiNodes),
    asFarAsAsked(needs),
    asFarAsAsked(pods),
    asFarAsAsked(leaving),
  ] as const;
  const whole = wholes(units, ...asOn, csiDrivers);
  return whole.items(([units, csiNodes, needs, pods, leaving]) =>
    pairIn({ units, csiNodes, needs, pods, leaving, nowMs: named.nowMs }),
  );
}

type Named = ReturnType<typeof placesIn>;
type Whole<Key extends keyof Named> = { readonly [One in Key]: readonly ItemOf<Named[One]>[] } & Pick<
  Named,
  "nowMs"
>;

function pairIn({
  units,
  csiNodes,
  needs,
  ...others
}: Whole<"units" | "csiNodes" | "needs" | "pods" | "leaving">) {
  const [unit, ...moreUnits] = units.filter(isGuess);
  const onNodes = csiNodes.flatMap(({ drivers }) => [...drivers]);
  const names = [...onNodes, ...needs.map(({ driver }) => driver)];
  const [driver, ...moreDrivers] = withoutRegistrar(names, units);
  if (unit === undefined || driver === undefined || moreUnits.length + moreDrivers.length > 0)
    return undefined;
  const isAlone = listFrom(units).contains(isEvery).not();
  const listed = csiNodes.flatMap(({ node, drivers }) => (drivers.has(driver) ? node : []));
  return nodeInCommon(unit, new Set(listed), others)
    ?.filter(() => isAlone)
    .map((node) => ({ registrar: unit.registrar, driver, node }));
}

/** One of the nodes, if exactly these have a pod of the DaemonSet; one whose pod does not work, or not yet, may be missing. */
function nodeInCommon(
  unit: RegistrarUnit,
  listed: ReadonlySet<string>,
  { pods: all, leaving, nowMs }: Whole<"pods" | "leaving">,
): SeenList<string> | undefined {
  const own = all.filter(({ setUid }) => setUid === unit.set.uid);
  const going = leaving.filter(({ setUid }) => setUid === unit.set.uid);
  const covered = new Set([...own, ...going].map(({ runsOn }) => runsOn));
  if (![...listed].every((one) => covered.has(one))) return undefined;
  const isWorking = ({ trouble, started }: RegistrarPod) =>
    started.contains((ms) => nowMs - ms >= START_MS).and(trouble.contains().not());
  const isElsewhere = ({ runsOn }: RegistrarPod) => runsOn !== undefined && !listed.has(runsOn);
  const pods = listFrom(own);
  const isOther = (pod: RegistrarPod) =>
    isWorking(pod).and(isElsewhere(pod)).or(isWithoutRegistrar(pod, unit));
  const areListed = pods.contains(isOther).not();
  return pods
    .filter(isWorking)
    .flatMap(({ runsOn }) => runsOn)
    .filter(() => areListed);
}
