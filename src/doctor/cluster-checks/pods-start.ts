import type { ClusterFacts } from "../cluster/cluster-facts";
import { groupsIn, ofGroup } from "../cluster/groups";
import { kubectlFor, reasonOf } from "../cluster/place-text";
import { type Check, problem } from "../finding";

export const podsStart: Check<ClusterFacts> = {
  code: "CSI202",
  name: "pods-start",
  verdicts: (facts) =>
    [...groupsIn(facts, "unscheduled"), ...groupsIn(facts, "blocked")].map((group) => {
      const { driver, first } = group;
      const describe = kubectlFor(facts.target, first.pod?.name ?? "", "describe pod");
      return ofGroup(
        problem(driver, `has a pod that does not start: ${reasonOf(first)}`, `see its events: ${describe}`),
        group,
      );
    }),
};
