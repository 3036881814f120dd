import type { ClusterFacts } from "../cluster/cluster-facts";
import { nameOf } from "../cluster/driver-names";
import { groupsIn, ofGroup } from "../cluster/groups";
import { type Check, problem } from "../finding";

export const providers: Check<ClusterFacts> = {
  code: "CSI208",
  name: "providers",
  verdicts: (facts) => {
    const advice = "install the driver, or correct its name in the volume or StorageClass";
    const needed = groupsIn(facts, "unprovided").map((group) =>
      ofGroup(problem(group.driver, "is needed, and no DaemonSet has a registrar for it", advice), group),
    );
    const { driver } = facts.target;
    const isThere =
      driver === undefined ||
      facts.places.length > 0 ||
      facts.units.some((unit) => nameOf(unit.driver) === driver);
    return isThere ? needed : problem(driver, "is in no CSINode, and no DaemonSet registers it", advice);
  },
};
