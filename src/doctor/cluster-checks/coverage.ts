import type { ClusterFacts } from "../cluster/cluster-facts";
import { groupsIn, ofGroup } from "../cluster/groups";
import { counted } from "../cluster/place-text";
import { type Check, problem } from "../finding";

export const coverage: Check<ClusterFacts> = {
  code: "CSI207",
  name: "coverage",
  verdicts: (facts) => [
    ...groupsIn(facts, "uncovered").map((group) => {
      const { driver, first } = group;
      const set = first.unit?.set.name ?? "?";
      const advice = `compare tolerations, nodeSelector and affinity of ${set} with the node's taints and labels: kubectl describe node ${first.node}`;
      return ofGroup(problem(driver, `is needed where no pod of DaemonSet ${set} runs`, advice), group);
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
  ],
};
