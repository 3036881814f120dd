import { nearWord } from "../../../../base/near-word";
import { check, grouped, problem, unread, warning } from "../../findings/finding";
import { APPLY_CSI_DRIVER, counted, firstOf, podsText } from "../../findings/words";
import type { ClusterFacts } from "./facts";
import { because, inState, judgeGroups, kubectlFor, NODES_AWAY, nodesOf, placeCheck } from "./groups";
import { EVERY_DRIVER, type Place } from "./places";

const compareNode = ({ node }: Place, { target }: ClusterFacts) =>
  `compare its DaemonSet with the node's taints, labels and pods: ${kubectlFor(target, "describe node", node)}`;

const coverage = check<ClusterFacts>("CSI207", "coverage", (facts) => [
  ...judgeGroups(facts, inState("uncovered"), because("is needed, and ", compareNode)),
  ...facts.sets
    .filter((set) => facts.units.some((unit) => unit.set === set) && set.current < set.desired)
    .map(({ name, object, current, desired }) => {
      const text = `has ${counted(current, "pod")} of the ${desired.toLocaleString("en")} that it wants: they are not made`;
      const fix = `see its events: ${kubectlFor(facts.target, "describe daemonset", name)}`;
      return { ...problem(`DaemonSet ${name}`, text, fix), objects: [object] };
    }),
]);

const providers = check<ClusterFacts>("CSI208", "providers", (facts) => {
  const advice = "install the driver, or correct its name in the volume or StorageClass";
  const needed = judgeGroups(
    facts,
    inState("unprovided"),
    because("is needed, and ", () => advice),
  );
  const { driver } = facts.target;
  // Without CSINodes it may be in one.
  if (driver === undefined || facts.csiNodes === undefined || facts.driverNames.has(driver)) return needed;
  const names = [...facts.driverNames].filter((name) => name !== EVERY_DRIVER).sort();
  const others = firstOf([...new Set([nearWord(driver, names) ?? [], names].flat())]);
  const fix = others ? `install it, or correct --driver: the cluster has ${others}` : advice;
  return problem(driver, "is in no CSINode, and no DaemonSet registers it", fix);
});

const csiDrivers = check<ClusterFacts>("CSI209", "csi-drivers", (facts) => {
  // If the name is a guess, so would this be.
  const unsure = facts.units.filter(({ driver }) => driver.kind !== "known").map(({ driver }) => driver.name);
  const named = facts.places.flatMap(({ driver, state }) => (state.kind === "unprovided" ? [] : driver));
  const text =
    "has no CSIDriver object: Kubernetes attaches its volumes first, and does not describe the pod to it";
  return [...new Set(named)]
    .filter((driver) => facts.csiDrivers?.has(driver) === false && !unsure.includes(driver))
    .map((driver) => warning(driver, text, APPLY_CSI_DRIVER));
});

const isMissed = ({ need, state }: Place) =>
  need !== undefined && state.kind !== "registered" && state.kind !== "unseen";

const waiting = placeCheck("CSI211", "waiting", isMissed, ({ driver }, _facts, places) => {
  const needs = places.flatMap(({ need }) => need ?? []);
  const pods = needs.flatMap((need) => need.pods);
  const attachments = needs.reduce((sum, need) => sum + need.attachments, 0);
  const who = [
    ...(pods.length > 0 ? [podsText(pods)] : []),
    ...(attachments > 0 ? [counted(attachments, "VolumeAttachment")] : []),
  ].join(" and ");
  return problem(driver, `has ${who} waiting for it`, "fix what keeps the driver from being registered");
});

/** Kubelet asks a driver whose CSIDriver has a period for its limit by itself. */
const volumeLimits = check<ClusterFacts>("CSI213", "volume-limits", (facts) => {
  const { exhausted, csiDriverSpecs, csiDrivers, target } = facts;
  if (csiDrivers === undefined) return [];
  const asked = csiDriverSpecs.filter(({ limitPeriodS }) => limitPeriodS !== undefined);
  const stuck = exhausted.filter(
    ({ driver }) => !asked.some(({ name }) => name === driver) && (target.driver ?? driver) === driver,
  );
  const fix =
    "set nodeAllocatableUpdatePeriodSeconds: 60 in its CSIDriver (Kubernetes 1.35 or later), or restart its pods on these nodes";
  return [...grouped(stuck, ({ driver }) => driver)].map(([driver, own]) => {
    const text = `cannot attach ${counted(own.length, "volume")}: ResourceExhausted, its nodes have less room than CSINode says`;
    return { ...problem(driver, text, fix), nodes: [...new Set(own.map(({ node }) => node))] };
  });
});

const autoscalers = check<ClusterFacts>("CSI214", "autoscalers", (facts) => {
  const { csiDriverSpecs, target } = facts;
  const names = csiDriverSpecs.flatMap(({ keepsPodsOff, name }) =>
    keepsPodsOff && (target.driver ?? name) === name ? name : [],
  );
  if (names.length === 0) return [];
  const text = `may make no node for pods with volumes of ${names.join(", ")}: preventPodSchedulingIfMissing is on, --enable-csi-node-aware-scheduling is off`;
  const fix = "give it --enable-csi-node-aware-scheduling=true, or take preventPodSchedulingIfMissing off";
  return facts.autoscalers.map((name) => warning(`Deployment ${name}`, text, fix));
});

const nodesReady = check<ClusterFacts>("CSI210", "nodes-ready", ({ places, target }) => {
  const away = nodesOf(places.filter(({ state }) => state.kind === "node-away"));
  if (away.length === 0) return [];
  const text = "are not ready, or not there any more: the status of their drivers may be outdated";
  const fix = `see why kubelet does not report: ${kubectlFor(target, "describe node", away[0])}`;
  return { ...warning("nodes", text, fix), cause: NODES_AWAY, nodes: away };
});

export const rights = check<ClusterFacts>("CSI212", "rights", (facts) =>
  facts.unread.map(({ resource, apiGroup, kind, message }) => {
    const rule = `{apiGroups: ["${apiGroup}"], resources: ["${resource}"], verbs: ["list"]}`;
    return kind === "forbidden"
      ? unread(resource, `may not be listed by you: ${message}`, `allow it in a ClusterRole: ${rule}`)
      : unread(resource, `could not be listed: ${message}`, "run it again, or look at less of it: --node");
  }),
);

export const needChecks = [
  coverage,
  providers,
  csiDrivers,
  waiting,
  volumeLimits,
  autoscalers,
  nodesReady,
  rights,
];
