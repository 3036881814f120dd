import { check, problem, warning } from "../../findings/finding";
import { APPLY_CSI_DRIVER, counted, podsText } from "../../rules/words";
import type { ClusterFacts } from "./facts";
import { inState, judgeGroups, placeCheck } from "./groups";
import type { Place } from "./places";

export const coverage = check<ClusterFacts>("CSI207", "coverage", (facts) => [
  ...judgeGroups(facts, inState("uncovered"), ({ driver, node, unit }) => {
    const set = unit?.set.name ?? "?";
    const advice = `compare tolerations, nodeSelector and affinity of ${set} with the node's taints and labels: kubectl describe node ${node}`;
    return problem(driver, `is needed where no pod of DaemonSet ${set} runs`, advice);
  }),
  ...facts.sets
    .filter((set) => facts.units.some((unit) => unit.set === set) && set.current < set.desired)
    .map(({ name, current, desired }) =>
      problem(
        `DaemonSet ${name}`,
        `has ${counted(current, "pod")} of the ${desired.toLocaleString("en")} that it wants: they are not made`,
        `see its events: kubectl -n ${name.replace("/", " describe daemonset ")}`,
      ),
    ),
]);

export const providers = check<ClusterFacts>("CSI208", "providers", (facts) => {
  const advice = "install the driver, or correct its name in the volume or StorageClass";
  const needed = judgeGroups(facts, inState("unprovided"), (first) =>
    problem(first.driver, "is needed, and no DaemonSet has a registrar for it", advice),
  );
  const { target, places, units } = facts;
  const isThere = places.length > 0 || units.some(({ driver }) => driver.name === target.driver);
  return target.driver === undefined || isThere
    ? needed
    : problem(target.driver, "is in no CSINode, and no DaemonSet registers it", advice);
});

export const csiDrivers = check<ClusterFacts>(
  "CSI209",
  "csi-drivers",
  ({ places, units, csiDrivers: known }) => {
    // If the name is a guess, so would this be.
    const unsure = units.filter(({ driver }) => driver.kind !== "known").map(({ driver }) => driver.name);
    const named = places.filter(({ state }) => state.kind !== "unprovided").map(({ driver }) => driver);
    return [...new Set(named)]
      .filter((driver) => known?.has(driver) === false && !unsure.includes(driver))
      .map((driver) =>
        warning(
          driver,
          "has no CSIDriver object: Kubernetes attaches its volumes first, and tells it nothing of the pod",
          APPLY_CSI_DRIVER,
        ),
      );
  },
);

const isMissed = ({ need, state }: Place) =>
  need !== undefined && state.kind !== "registered" && state.kind !== "unseen";

export const waiting = placeCheck("CSI211", "waiting", isMissed, ({ driver }, _facts, places) =>
  problem(driver, `is waited for by ${whoWaits(places)}`, "repair what keeps the driver away"),
);

function whoWaits(places: readonly Place[]): string {
  const pods = places.flatMap(({ need }) => need?.pods ?? []);
  const attachments = places.reduce((sum, { need }) => sum + (need?.attachments ?? 0), 0);
  return [
    ...(pods.length === 0 ? [] : [podsText(pods)]),
    ...(attachments === 0 ? [] : [counted(attachments, "VolumeAttachment")]),
  ].join(" and ");
}
