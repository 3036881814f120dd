import { check, problem, warning } from "../../findings/finding";
import { grouped } from "../../findings/grouped";
import { counted } from "../../rules/words";
import type { ClusterFacts } from "./facts";

/** Kubelet asks a driver whose CSIDriver has a period for its limit by itself. */
export const volumeLimits = check<ClusterFacts>("CSI213", "volume-limits", (facts) => {
  const { exhausted, csiDriverSpecs, csiDrivers, target } = facts;
  if (csiDrivers === undefined) return [];
  const asked = csiDriverSpecs.filter(({ limitPeriodS }) => limitPeriodS !== undefined);
  const stuck = exhausted.filter(
    ({ driver }) =>
      !asked.some(({ name }) => name === driver) && (target.driver === undefined || target.driver === driver),
  );
  return Array.from(
    grouped(stuck, ({ driver }) => driver),
    ([driver, own]) => ({
      ...problem(
        driver,
        `cannot attach ${counted(own.length, "volume")}: ResourceExhausted, its nodes have less room than CSINode says`,
        "set nodeAllocatableUpdatePeriodSeconds: 60 in its CSIDriver (Kubernetes 1.35 or later), or restart its pods on these nodes",
      ),
      nodes: [...new Set(own.map(({ node }) => node))],
    }),
  );
});

export const autoscalers = check<ClusterFacts>("CSI214", "autoscalers", (facts) => {
  const { csiDriverSpecs, target } = facts;
  const names = csiDriverSpecs
    .filter(({ keepsPodsOff, name }) => keepsPodsOff && (target.driver ?? name) === name)
    .map(({ name }) => name);
  if (names.length === 0) return [];
  return facts.autoscalers.map((name) =>
    warning(
      `Deployment ${name}`,
      `may make no node for pods with volumes of ${names.join(", ")}: preventPodSchedulingIfMissing is on, --enable-csi-node-aware-scheduling is off`,
      "give it --enable-csi-node-aware-scheduling=true, or take preventPodSchedulingIfMissing off",
    ),
  );
});
