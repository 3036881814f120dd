import type { ClusterFacts } from "../cluster/cluster-facts";
import { groupsIn, ofGroup } from "../cluster/groups";
import { reasonOf } from "../cluster/place-text";
import { type Check, problem } from "../finding";

export const nodeIds: Check<ClusterFacts> = {
  code: "CSI205",
  name: "node-ids",
  asks: "Whether the Node's annotation csi.volume.kubernetes.io/nodeid has the driver, with the node ID of CSINode.",
  matters:
    "Kubelet writes both when it registers a driver. The attacher goes by them; where they differ, volumes are attached to nothing, or to another machine.",
  fix: "Have kubelet write them anew: restart the driver's pod on that node. Look for what else writes the annotation.",
  verdicts: (facts) =>
    groupsIn(facts, "contradicted").map((group) => {
      const { driver, first } = group;
      const advice = "restart its pod on that node, and see who else writes that annotation";
      return ofGroup(problem(driver, `has two node IDs: ${reasonOf(first)}`, advice), group);
    }),
};
