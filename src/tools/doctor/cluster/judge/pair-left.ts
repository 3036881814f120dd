import { type ClusterLists, isWithoutRegistrar, type placesIn, START_MS } from "./places";
import { isGuess, type Pair, type RegistrarUnit } from "./units";

/**
 * The only registrar whose driver has no name, and the only driver on nodes or needed by them that no registrar is known for, if
 * they cover the same nodes. They belong together unless another pod of `node` registers the driver.
 */
export function pairLeft(named: ReturnType<typeof placesIn>): (Pair & { readonly node: string }) | undefined {
  const [units, csiNodes, needs] = [named.units.all(), named.csiNodes.all(), named.needs.all()];
  if (units.kind === "unread" || csiNodes.kind === "unread" || needs.kind === "unread") return undefined;
  // A CSIDriver that was not read may be the name of a registrar.
  if (named.csiDrivers.all().kind === "unread") return undefined;
  const [unit, ...moreUnits] = units.value.filter(isGuess);
  const owned = new Set(units.value.map(({ driver }) => driver.name));
  const onNodes = csiNodes.value.flatMap(({ drivers }) => [...drivers]);
  const names = [...onNodes, ...needs.value.map(({ driver }) => driver)];
  const [driver, ...moreDrivers] = new Set(names.filter((name) => !owned.has(name)));
  if (unit === undefined || driver === undefined || moreUnits.length + moreDrivers.length > 0)
    return undefined;
  if (units.value.some((one) => one.driver.kind === "every")) return undefined;
  const listed = csiNodes.value.flatMap(({ node, drivers }) => (drivers.has(driver) ? node : []));
  const node = nodeInCommon(unit, new Set(listed), named);
  return node === undefined ? undefined : { registrar: unit.registrar, driver, node };
}

/** One of the nodes, if exactly these have a pod of the DaemonSet; one whose pod does not work, or not yet, may be missing. */
function nodeInCommon(
  unit: RegistrarUnit,
  listed: ReadonlySet<string>,
  { pods, leaving, nowMs }: Pick<ClusterLists, "pods" | "leaving" | "nowMs">,
): string | undefined {
  const [all, left] = [pods.all(), leaving.all()];
  if (all.kind === "unread" || left.kind === "unread") return undefined;
  const own = all.value.filter(({ setUid }) => setUid === unit.set.uid);
  if (own.some((pod) => isWithoutRegistrar(pod, unit))) return undefined;
  const going = left.value.filter(({ setUid }) => setUid === unit.set.uid);
  const covered = new Set([...own, ...going].map(({ node }) => node));
  const working = own.flatMap(({ node, trouble, startedMs = nowMs }) =>
    node !== undefined && trouble === undefined && nowMs - startedMs >= START_MS ? node : [],
  );
  const isSame = working.every((one) => listed.has(one)) && [...listed].every((one) => covered.has(one));
  return isSame ? working[0] : undefined;
}
