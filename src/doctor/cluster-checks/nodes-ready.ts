import type { ClusterFacts } from "../cluster/cluster-facts";
import { NODES_AWAY, nodesOf } from "../cluster/groups";
import { type Check, type Verdict, warning } from "../finding";

export const nodesReady: Check<ClusterFacts> = {
  code: "CSI210",
  name: "nodes-ready",
  verdicts: ({ places }) => {
    const away = nodesOf({ places: places.filter(({ state }) => state.kind === "node-away") });
    const text = "are not ready, or not there any more: what is told of their drivers is from before";
    const verdict: Verdict = warning("nodes", text, "see why kubelet does not report: kubectl describe node");
    return away.length === 0 ? [] : [{ ...verdict, cause: NODES_AWAY, nodes: away }];
  },
};
