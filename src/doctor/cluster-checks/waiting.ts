import type { ClusterFacts } from "../cluster/cluster-facts";
import { groupsOf, ofGroup } from "../cluster/groups";
import { counted } from "../cluster/place-text";
import type { Place } from "../cluster/places";
import { type Check, problem } from "../finding";

/** So many names tell enough. */
const NAMED = 3;

export const waiting: Check<ClusterFacts> = {
  code: "CSI211",
  name: "waiting",
  verdicts: (facts) => {
    const isAway = ({ kind }: Place["state"]) => kind !== "registered" && kind !== "unseen";
    const needed = facts.places.filter(({ need, state }) => need !== undefined && isAway(state));
    return groupsOf(needed, facts).map((group) => {
      const text = `is waited for by ${whoWaits(group.places)}`;
      return ofGroup(problem(group.driver, text, "mend what keeps the driver away"), group);
    });
  },
};

function whoWaits(places: readonly Place[]): string {
  const pods = places.flatMap(({ need }) => need?.pods ?? []);
  const attachments = places.reduce((sum, { need }) => sum + (need?.attachments ?? 0), 0);
  const more = pods.length > NAMED ? ", ..." : "";
  const named = pods.length === 0 ? "" : ` (${pods.slice(0, NAMED).join(", ")}${more})`;
  return [
    ...(pods.length === 0 ? [] : [`${counted(pods.length, "pod")}${named}`]),
    ...(attachments === 0 ? [] : [counted(attachments, "VolumeAttachment")]),
  ].join(" and ");
}
