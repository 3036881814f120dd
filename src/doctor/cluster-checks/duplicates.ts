import type { ClusterFacts } from "../cluster/cluster-facts";
import { groupsIn, ofGroup } from "../cluster/groups";
import { reasonOf } from "../cluster/place-text";
import { type Check, problem } from "../finding";

export const duplicates: Check<ClusterFacts> = {
  code: "CSI206",
  name: "duplicates",
  asks: "Whether a node has two pods that register the same driver.",
  matters: "They take the registration from each other; when one of them ends, kubelet may lose the driver.",
  fix: "Leave one DaemonSet to each driver, or give them node selectors that do not overlap.",
  verdicts: (facts) =>
    groupsIn(facts, "duplicate").map((group) => {
      const { driver, first } = group;
      const advice = "delete one of their DaemonSets, or give them nodes that do not overlap";
      return ofGroup(problem(driver, `is there more than once: ${reasonOf(first)}`, advice), group);
    }),
};
