import type { ClusterFacts } from "../cluster/cluster-facts";
import { groupsIn, ofGroup } from "../cluster/groups";
import { reasonOf } from "../cluster/place-text";
import { type Check, problem } from "../finding";

export const nodeIds: Check<ClusterFacts> = {
  code: "CSI205",
  name: "node-ids",
  verdicts: (facts) =>
    groupsIn(facts, "contradicted").map((group) => {
      const { driver, first } = group;
      const advice = "restart its pod on that node, and see who else writes that annotation";
      return ofGroup(problem(driver, `has two node IDs: ${reasonOf(first)}`, advice), group);
    }),
};
