import type { ClusterFacts } from "../cluster/cluster-facts";
import { groupsIn, ofGroup } from "../cluster/groups";
import { reasonOf } from "../cluster/place-text";
import { type Check, problem } from "../finding";

export const duplicates: Check<ClusterFacts> = {
  code: "CSI206",
  name: "duplicates",
  verdicts: (facts) =>
    groupsIn(facts, "duplicate").map((group) => {
      const { driver, first } = group;
      const advice = "delete one of their DaemonSets, or give them nodes that do not overlap";
      return ofGroup(problem(driver, `is there more than once: ${reasonOf(first)}`, advice), group);
    }),
};
