import type { ClusterFacts } from "../cluster/cluster-facts";
import { type Check, unread } from "../finding";

export const rights: Check<ClusterFacts> = {
  code: "CSI212",
  name: "rights",
  verdicts: (facts) =>
    facts.unread.map(({ resource, apiGroup, isForbidden, message, unknown: what }) => {
      const rule = `{apiGroups: ["${apiGroup}"], resources: ["${resource}"], verbs: ["list"]}`;
      const why = isForbidden ? "may not be listed by you" : "could not be listed";
      return unread(
        resource,
        `${why}, so it is unknown ${what}: ${message}`,
        isForbidden ? `allow it in a ClusterRole: ${rule}` : "run it again, or look at less of it: --node",
      );
    }),
};
