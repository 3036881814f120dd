import type { ClusterFacts } from "../cluster/cluster-facts";
import { causeOf, nodesOf } from "../cluster/groups";
import { counted } from "../cluster/place-text";
import type { Place } from "../cluster/places";
import { type Check, problem } from "../finding";

/** So many names tell enough. */
const NAMED = 3;

export const waiting: Check<ClusterFacts> = {
  code: "CSI211",
  name: "waiting",
  asks: "Which pods and VolumeAttachments wait for a driver that is not well on their node.",
  matters:
    "This is what users see: a pod in ContainerCreating, with the event `driver name not found in the list of registered CSI drivers`.",
  fix: "Mend what it follows from. Kubelet tries again by itself, after two minutes at the latest.",
  verdicts: (facts) => {
    const groups = new Map<string, Place[]>();
    for (const place of facts.places) {
      const { state, driver } = place;
      if (place.need === undefined || state.kind === "registered" || state.kind === "unseen") continue;
      const cause = causeOf(place, facts);
      const group = groups.get(`${driver} ${cause}`) ?? [];
      groups.set(`${driver} ${cause}`, group);
      group.push(place);
    }
    return [...groups.values()].flatMap((places) => {
      const [first] = places;
      if (first === undefined) return [];
      const verdict = problem(
        first.driver,
        `is waited for by ${whoWaits(places)}`,
        "mend what keeps the driver away",
      );
      return [{ ...verdict, cause: causeOf(first, facts), nodes: nodesOf({ places }) }];
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
