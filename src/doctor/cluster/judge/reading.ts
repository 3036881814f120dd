import { check, unread, type Verdict, warning } from "../../findings/finding";
import type { ClusterFacts } from "./facts";
import { NODES_AWAY, nodesOf } from "./groups";

export const nodesReady = check<ClusterFacts>("CSI210", "nodes-ready", ({ places }) => {
  const away = nodesOf(places.filter(({ state }) => state.kind === "node-away"));
  const text = "are not ready, or not there any more: the status of their drivers may be outdated";
  const verdict: Verdict = warning("nodes", text, "see why kubelet does not report: kubectl describe node");
  return away.length === 0 ? [] : [{ ...verdict, cause: NODES_AWAY, nodes: away }];
});

export const rights = check<ClusterFacts>("CSI212", "rights", (facts) =>
  facts.unread.map(({ resource, apiGroup, kind, message, unknown: what }) => {
    const rule = `{apiGroups: ["${apiGroup}"], resources: ["${resource}"], verbs: ["list"]}`;
    const why = kind === "forbidden" ? "may not be listed by you" : "could not be listed";
    return unread(
      resource,
      `${why}, so it is unknown ${what}: ${message}`,
      kind === "forbidden"
        ? `allow it in a ClusterRole: ${rule}`
        : "run it again, or look at less of it: --node",
    );
  }),
);
