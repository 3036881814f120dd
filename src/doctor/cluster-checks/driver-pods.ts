import type { ClusterFacts } from "../cluster/cluster-facts";
import { groupsIn, ofGroup } from "../cluster/groups";
import { reasonOf } from "../cluster/place-text";
import { type Check, problem } from "../finding";
import { adviceOn } from "./registrar-pods";

export const driverPods: Check<ClusterFacts> = {
  code: "CSI203",
  name: "driver-pods",
  verdicts: (facts) =>
    groupsIn(facts, "restarting", ({ isRegistrar }) => !isRegistrar).map((group) => {
      const { driver, first } = group;
      const advice = adviceOn(first.state, facts.target, first.pod?.name ?? "");
      return ofGroup(problem(driver, `does not stay up: ${reasonOf(first)}`, advice), group);
    }),
};
