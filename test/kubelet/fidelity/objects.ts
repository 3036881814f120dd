import { type ApiObjects, type CsiNodeDriver, nodeIds } from "../support/kubelet";
import { objectStep, type Step } from "./step";

/** What changed between two states of the Node and the CSINode, driver by driver. */
export function changes(before: ApiObjects, after: ApiObjects): readonly Step[] {
  const [was, is] = [factsOf(before), factsOf(after)];
  return [
    ...changedFacts(was.nodeIds, is.nodeIds, objectStep.node),
    ...changedFacts(was.entries, is.entries, objectStep.csiNode),
    ...changedFacts(was.labels, is.labels, objectStep.label),
  ];
}

/** What a registration leaves in the two objects, as far as the order of what came at the same time does not matter. */
export function summaryOf({ node, csiNode }: ApiObjects) {
  const { annotations = {}, labels = {} } = node.metadata;
  const drivers = [...(csiNode?.spec.drivers ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    annotations,
    labels,
    drivers: drivers.map((driver) => ({ name: driver.name, ...entryOf(driver) })),
  };
}

type Facts = Readonly<Record<string, string>>;

function changedFacts(was: Facts, is: Facts, tell: (key: string, fact: string | undefined) => Step) {
  const keys = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...keys].filter((key) => was[key] !== is[key]).map((key) => tell(key, is[key]));
}

function factsOf({ node, csiNode }: ApiObjects): Readonly<Record<"nodeIds" | "entries" | "labels", Facts>> {
  const drivers = csiNode?.spec.drivers ?? [];
  return {
    nodeIds: nodeIds(node),
    entries: Object.fromEntries(drivers.map((driver) => [driver.name, JSON.stringify(entryOf(driver))])),
    labels: node.metadata.labels ?? {},
  };
}

function entryOf({ nodeID, topologyKeys, allocatable }: CsiNodeDriver) {
  return { nodeID, topologyKeys: topologyKeys ?? [], count: allocatable?.count ?? "no limit" };
}
