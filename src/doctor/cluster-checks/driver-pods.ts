import type { ClusterFacts } from "../cluster/cluster-facts";
import { groupsIn, ofGroup } from "../cluster/groups";
import { reasonOf } from "../cluster/place-text";
import { type Check, problem } from "../finding";
import { adviceOn } from "./registrar-pods";

export const driverPods: Check<ClusterFacts> = {
  code: "CSI203",
  name: "driver-pods",
  asks: "Whether the containers beside the registrar stay up: the driver's, and its helpers'.",
  matters:
    "Without the driver the registrar has nothing to register; of one that was registered before, CSINode still has the entry, and mounts fail.",
  fix: "See the log of that container's last run. The registrar needs no change.",
  verdicts: (facts) =>
    groupsIn(facts, "restarting", ({ isRegistrar }) => !isRegistrar).map((group) => {
      const { driver, first } = group;
      const advice = adviceOn(first.state, facts.target, first.pod?.name ?? "");
      return ofGroup(problem(driver, `does not stay up: ${reasonOf(first)}`, advice), group);
    }),
};
