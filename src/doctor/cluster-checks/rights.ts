import type { ClusterFacts } from "../cluster/cluster-facts";
import { type Check, unread } from "../finding";

export const rights: Check<ClusterFacts> = {
  code: "CSI212",
  name: "rights",
  asks: "Whether everything could be read: DaemonSets, pods, Nodes, CSINodes, CSIDrivers, VolumeAttachments, events.",
  matters: "What may not be read is unknown, not well.",
  fix: "Let a ClusterRole list what is named, or ask somebody who may.",
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
