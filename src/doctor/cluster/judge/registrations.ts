import { check, grouped, ok, problem, unknown, type Verdicts } from "../../findings/finding";
import { counted, LEAVE_ONE, OUR_ARCHITECTURES } from "../../findings/words";
import type { Deployment } from "../../manifest/read/deployments";
import type { ClusterFacts } from "./facts";
import { inState, judgeGroups, kubectlFor, nodesOf, placeCheck } from "./groups";
import { isWithoutRegistrar, type Place } from "./places";

const registered = check<ClusterFacts>("CSI204", "registered", (facts) => [
  ...judgeGroups(facts, inState("unregistered"), (first) =>
    problem(
      first.driver,
      "is not in CSINode, though its pod runs: kubelet never called the registrar, or refused the driver",
      whereToLook(first, facts),
    ),
  ),
  ...judgeGroups(facts, inState("unseen"), ({ driver }) =>
    unknown(driver, "may be registered or not: it cannot be seen from here"),
  ),
  healthyDrivers(facts),
]);

function whereToLook({ unit, pod }: Place, { target }: ClusterFacts): string {
  if (unit === undefined || isWithoutRegistrar({ pod, unit }))
    return "see the log of the registrar of the whole node there, and its --allow-drivers and --deny-drivers";
  const { container, program, unseen, settings } = unit.registrar;
  if (program.kind !== "ours" || unseen !== undefined)
    return `see ${kubectlFor(target, pod, "logs")} -c ${container}, and run registrar doctor --host-root=/host on the node, in kubectl debug node`;
  const paths = `--csi-address=${settings.csiAddress} --kubelet-registration-path=${settings.kubeletRegistrationPath}`;
  return `ask there: ${kubectlFor(target, pod, "exec")} -c ${container} -- /csi-node-driver-registrar doctor ${paths}`;
}

function healthyDrivers({ places }: ClusterFacts): Verdicts {
  return [...grouped(places, ({ driver }) => driver)].map(([driver, own]) => {
    if (own.some(({ state }) => state.kind !== "registered")) return undefined;
    const nodes = nodesOf(own);
    return { ...ok(driver, `is registered on ${counted(nodes.length, "node")}`), nodes };
  });
}

const nodeIds = placeCheck("CSI205", "node-ids", inState("contradicted"), ({ driver, state }) =>
  problem(
    driver,
    `has two node IDs: ${state.reason}`,
    "restart its pod on that node, and see who else writes that annotation",
  ),
);

const duplicates = placeCheck("CSI206", "duplicates", inState("duplicate"), ({ driver, state }) =>
  problem(driver, `is there more than once: ${state.reason}`, LEAVE_ONE),
);

function restartCheck(code: string, name: string, text: string, ofRegistrar: boolean) {
  const isMeant = ({ state }: Place) => state.container?.isRegistrar === ofRegistrar;
  return placeCheck(code, name, isMeant, (first, facts) =>
    problem(first.driver, `${text}: ${first.state.reason}`, adviceOn(first, facts)),
  );
}

function adviceOn({ state, pod }: Place, { target }: ClusterFacts): string {
  const { name, exitCode, message } = state.container ?? {};
  const log = `${kubectlFor(target, pod, "logs")} -c ${name} --previous`;
  if (message !== "") return `do what the message says; the whole log: ${log}`;
  if (exitCode === 137 || exitCode === 143)
    return `see what ended it, its memory limit or a probe: ${kubectlFor(target, pod, "describe pod")}`;
  return `see why it ended: ${log}`;
}

const doesNotStart = inState("unscheduled", "blocked");

const podsStart = placeCheck("CSI202", "pods-start", doesNotStart, (first, { target }) => {
  const fix = `see its events: ${kubectlFor(target, first.pod, "describe pod")}`;
  return problem(first.driver, `has a pod that does not start: ${first.state.reason}`, fix);
});

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
      if (architecture === undefined || OUR_ARCHITECTURES.includes(architecture)) return [];
      const isHere = isOurs(running.registrars);
      const isMeant = swapped === undefined ? isHere : !isHere && isOurs(swapped);
      return isMeant ? [{ node, architecture }] : [];
    });
    if (bad.length === 0) return undefined;
    const names = [...new Set(bad.map(({ architecture }) => architecture))].join(" and ");
    const text = `is on ${counted(bad.length, "node")} of ${names}, and this registrar's image is for ${OUR_ARCHITECTURES.join(" and ")}`;
    const fix =
      "leave these nodes to the official image: a DaemonSet of their own, with nodeSelector kubernetes.io/arch";
    return { ...problem(place, text, fix), objects: [registrar.object], nodes: nodesOf(bad) };
  });
});

export const stateChecks = [
  registered,
  nodeIds,
  duplicates,
  restartCheck("CSI201", "registrar-pods", "is not kept registered", true),
  restartCheck("CSI203", "driver-pods", "does not stay up", false),
  podsStart,
  architectures,
];
