import { nearWord } from "../../../../base/near-word";
import { check, grouped, problem, unknown, unread, type Verdict, warning } from "../../findings/finding";
import { counted, firstOf, together } from "../../findings/words";
import type { RegistrarSet } from "../read/set";
import type { ClusterFacts } from "./facts";
import { inState, judgeGroups, kubectl, NODES_AWAY, nodesOf, problemsOf, whoWaits } from "./groups";
import { isYoung, type Place, SETTLED } from "./places";
import { EVERY_DRIVER, HINTS, notRead } from "./units";

const coverage = check<ClusterFacts>("CSI207", "coverage", (facts) => [
  ...problemsOf(facts, inState("uncovered"), "is needed, and ", ({ node }) =>
    kubectl(
      "compare its DaemonSet with the node's taints, labels and pods",
      facts.target,
      "describe node",
      node,
    ),
  ),
  ...facts.sets.map((set) => judgePods(set, facts)),
]);

/** Pods of a set that are not there, unless they may just be on their way: after a roll-out, or for a new node. */
function judgePods(set: RegistrarSet, facts: ClusterFacts): Verdict | undefined {
  const { name, current, desired, uid } = set;
  const { units, nodes, leaving, nowMs, target } = facts;
  if (current >= desired || !units.some((unit) => unit.set === set)) return undefined;
  const isChanging = isYoung(set, nowMs) || leaving.some(({ setUid }) => setUid === uid);
  if (isChanging || [...(nodes?.values() ?? [])].some((node) => isYoung(node, nowMs))) return undefined;
  const text = `has only ${current.toLocaleString("en")} of ${counted(desired, "pod")}: the others were not created`;
  const fix = kubectl("see its events", target, "describe daemonset", name);
  // A node that joined a moment ago would explain it.
  const missing = notRead(facts, "nodes", "pods");
  if (missing) return unknown(`DaemonSet ${name}`, `${text}, and ${missing}`);
  return problem(`DaemonSet ${name}`, text, fix);
}

const providers = check<ClusterFacts>("CSI208", "providers", (facts) => {
  const advice = "install the driver, or correct its name in the volume or StorageClass";
  const needed = problemsOf(facts, inState("unprovided"), "is needed, and ", () => advice);
  const { units, places, csiDrivers, hasGuess } = facts;
  const { driver, node } = facts.target;
  const isFound =
    units.some((unit) => unit.driver.name === driver) || places.some((one) => one.driver === driver);
  if (driver === undefined || isFound) return needed;
  const missing = notRead(facts, ...(hasGuess ? HINTS : (["daemonsets", "csinodes"] as const)));
  const there = node === undefined ? "" : ` on ${node}`;
  if (missing !== undefined) return unknown(driver, `is possibly installed${there}: ${missing}`);
  const names = facts.driverNames.filter((name) => name !== EVERY_DRIVER).sort();
  const others = firstOf([...new Set([nearWord(driver, names) ?? [], names].flat())]);
  const correct = others ? `install it, or correct --driver: doctor found ${others}` : advice;
  const install = "install its node plugin: only its CSIDriver object is there";
  const inWhich = node === undefined ? "is in no CSINode" : `is not in the CSINode of ${node}`;
  const fix = csiDrivers?.has(driver) ? install : correct;
  return problem(driver, `${inWhich}, and no DaemonSet is known to register it`, fix);
});

const csiDrivers = check<ClusterFacts>("CSI209", "csi-drivers", (facts) => {
  // If the name is a guess, so would this be.
  const unsure = facts.units.filter(({ driver }) => driver.kind !== "known").map(({ driver }) => driver.name);
  const named = facts.places.flatMap(({ driver, unit, isListed }) => (unit || isListed ? driver : []));
  const text =
    "has no CSIDriver object: Kubernetes attaches its volumes before it mounts them, and passes the driver no information about the pod";
  const fix = "apply its CSIDriver object: examples/csidriver.yaml explains each field";
  return [...new Set(named)]
    .filter((driver) => facts.csiDrivers?.has(driver) === false && !unsure.includes(driver))
    .map((driver) => warning(driver, text, fix));
});

const waiting = check<ClusterFacts>("CSI211", "waiting", (facts) => {
  const isMissed = (place: Place) => whoWaits([place]) !== "" && !inState(...SETTLED, "node-away")(place);
  const fix = "fix what keeps the driver from being registered";
  const missed = judgeGroups(facts, isMissed, ({ driver }, places) =>
    problem(driver, `has ${whoWaits(places)} waiting for it`, fix),
  );
  return [missed, judgeAway(facts)];
});

/** Whether a driver is registered there is only known when kubelet reports again. */
function judgeAway({ places, target }: ClusterFacts): Verdict | undefined {
  const away = places.filter((place) => inState("node-away")(place) && whoWaits([place]) !== "");
  const [first] = nodesOf(away);
  if (first === undefined) return undefined;
  const text = `are not ready or gone, with ${whoWaits(away)} waiting there`;
  const fix = kubectl("see why kubelet does not report", target, "describe node", first);
  return { ...unread("nodes", text, fix), cause: NODES_AWAY, nodes: nodesOf(away) };
}

/** Kubelet's pkg/volume/csi/nodeinfomanager; kubernetes#120063. */
const csiNodeOwners = check<ClusterFacts>("CSI218", "csi-node-owners", (facts) => {
  const { nodes, csiNodeOwners, places, nowMs, target } = facts;
  const bad = [...(nodes?.values() ?? [])].filter((node) => {
    const owner = csiNodeOwners.get(node.name);
    const isOther = owner !== undefined && node.uid !== undefined && owner !== node.uid;
    return isOther && node.isReady && !isYoung(node, nowMs);
  });
  const names = bad.map(({ name }) => name).sort();
  const here = target.driver === undefined ? names : names.filter((name) => nodesOf(places).includes(name));
  if (here.length === 0) return [];
  const text =
    "are owned by Nodes that were deleted and created again: the garbage collector removes them, then no volume can be attached";
  const fix =
    "restart kubelet on these nodes: some releases keep the old Node's UID until then, and write it into each new CSINode";
  return { ...problem("CSINodes", text, fix), nodes: here };
});

/** Lists that failed alike are one finding: an API server that went away fails all. */
export const rights = check<ClusterFacts>("CSI212", "rights", ({ unread: lists, ...facts }) => [
  ...[...grouped(lists, ({ kind, message }) => `${kind} ${message}`).values()].map((own) => {
    const [{ kind, message }] = own;
    const names = together(own.map(({ resource }) => resource));
    const fix = "run doctor again, or for one node only: --node";
    if (kind !== "forbidden") return unread(names, `could not be listed: ${message}`, fix);
    const rules = own.map(
      ({ apiGroup, resource }) => `{apiGroups: ["${apiGroup}"], resources: ["${resource}"], verbs: ["list"]}`,
    );
    return unread(names, `cannot be listed: ${message}`, {
      fix: "add to your ClusterRole",
      command: rules.join(", "),
    });
  }),
  judgeNode(facts),
]);

function judgeNode({ nodes, csiNodes, pods, target: { node } }: Omit<ClusterFacts, "unread">) {
  const isSeen = nodes !== undefined || pods.some((pod) => pod.node === node) || csiNodes?.has(node ?? "");
  if (node === undefined || isSeen) return undefined;
  return unknown(`node ${node}`, "is in no list that could be read: doctor cannot tell whether it exists");
}

export const needChecks = [coverage, providers, csiDrivers, waiting, csiNodeOwners, rights];
