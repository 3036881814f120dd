import { check, problem } from "../../findings/finding";
import { grouped } from "../../findings/grouped";
import type { Deployment } from "../../manifest/read/deployments";
import { counted, OUR_ARCHITECTURES } from "../../rules/words";
import type { ClusterFacts } from "./facts";

/** Our image where its pods' nodes need another: as admission left the pods, or as `swapped` would have them. */
export const architectures = check<ClusterFacts>("CSI217", "architectures", (facts) => {
  const { pods, nodes, units, swapped } = facts;
  const podsOf = grouped(pods, ({ setUid }) => setUid);
  return units.map(({ set, registrar }) => {
    const { place } = registrar;
    const isOurs = (ones: readonly Deployment[]) =>
      ones.some((one) => one.place === place && one.program.kind === "ours" && !one.program.hasShell);
    const bad = (podsOf.get(set.uid) ?? []).flatMap(({ node, running }) => {
      const architecture = nodes?.get(node ?? "")?.architecture;
      const isWrong = architecture !== undefined && !OUR_ARCHITECTURES.includes(architecture);
      const isHere = isOurs(running.registrars);
      const isMeant = swapped === undefined ? isHere : !isHere && isOurs(swapped);
      return node !== undefined && isWrong && isMeant ? [{ node, architecture }] : [];
    });
    if (bad.length === 0) return undefined;
    const names = [...new Set(bad.map(({ architecture }) => architecture))].join(" and ");
    const image = `this registrar's image is for ${OUR_ARCHITECTURES.join(" and ")}`;
    return {
      ...problem(
        place,
        `is on ${counted(bad.length, "node")} of ${names}, and ${image}`,
        "leave these nodes to the official image: a DaemonSet of their own, with nodeSelector kubernetes.io/arch",
      ),
      objects: [registrar.object],
      nodes: bad.map(({ node }) => node),
    };
  });
});
