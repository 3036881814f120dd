import { type Check, ok, problem, unknown, type Verdicts } from "../../findings/finding";
import { LEAVE_ONE } from "../../rules/duplicates";
import type { ClusterFacts } from "../cluster-facts";
import { nameOf } from "../driver-names";
import { judgeIn, nodesOf } from "../groups";
import { counted, kubectlFor, reasonOf } from "../place-text";
import type { Place } from "../places";

export const registered: Check<ClusterFacts> = {
  code: "CSI204",
  name: "registered",
  verdicts: (facts) => [
    ...judgeIn(facts, "unregistered", (first) =>
      problem(
        first.driver,
        "is not in CSINode, though its pod runs: kubelet never called the registrar, or refused the driver",
        whereToLook(first, facts),
      ),
    ),
    ...judgeIn(facts, "unseen", ({ driver }) =>
      unknown(driver, "may be registered or not: that cannot be seen from here"),
    ),
    wellDrivers(facts),
  ],
};

function whereToLook({ unit, pod }: Place, { target }: ClusterFacts): string {
  const name = pod?.name ?? "";
  if (unit === undefined) return "run registrar doctor on the node";
  const { container, isOfficial, unseen, settings } = unit.registrar;
  if (isOfficial || unseen !== undefined)
    return `see ${kubectlFor(target, name, "logs")} -c ${container}, and run registrar doctor --host-root=/host on the node, in kubectl debug node`;
  const paths = `--csi-address=${settings.csiAddress} --kubelet-registration-path=${settings.kubeletRegistrationPath}`;
  return `ask there: ${kubectlFor(target, name, "exec")} -c ${container} -- /csi-node-driver-registrar doctor ${paths}`;
}

/** Drivers that are registered on every node where they should be. */
function wellDrivers({ places, units }: ClusterFacts): Verdicts {
  const drivers = new Set([
    ...places.map(({ driver }) => driver),
    ...units.map(({ driver }) => nameOf(driver)),
  ]);
  return [...drivers].map((driver) => {
    const own = places.filter((place) => place.driver === driver);
    if (own.length === 0 || own.some(({ state }) => state.kind !== "registered")) return undefined;
    const nodes = nodesOf(own);
    return { ...ok(driver, `is registered on ${counted(nodes.length, "node")}`), nodes };
  });
}

export const nodeIds: Check<ClusterFacts> = {
  code: "CSI205",
  name: "node-ids",
  verdicts: (facts) =>
    judgeIn(facts, "contradicted", (first) => {
      const advice = "restart its pod on that node, and see who else writes that annotation";
      return problem(first.driver, `has two node IDs: ${reasonOf(first)}`, advice);
    }),
};

export const duplicates: Check<ClusterFacts> = {
  code: "CSI206",
  name: "duplicates",
  verdicts: (facts) =>
    judgeIn(facts, "duplicate", (first) =>
      problem(first.driver, `is there more than once: ${reasonOf(first)}`, LEAVE_ONE),
    ),
};
