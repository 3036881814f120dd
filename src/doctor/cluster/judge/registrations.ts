import { check, ok, problem, unknown, type Verdicts } from "../../findings/finding";
import { grouped } from "../../findings/grouped";
import { LEAVE_ONE } from "../../rules/duplicates";
import { counted } from "../../rules/words";
import type { ClusterFacts } from "./facts";
import { inState, judgeGroups, kubectlFor, nodesOf, placeCheck } from "./groups";
import { isWithoutRegistrar, type Place } from "./places";

export const registered = check<ClusterFacts>("CSI204", "registered", (facts) => [
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
  if (unit === undefined) return "run registrar doctor on the node";
  if (isWithoutRegistrar({ pod, unit }))
    return "see the log of the registrar of the whole node there, and its --allow-drivers and --deny-drivers";
  const { container, program, unseen, settings } = unit.registrar;
  if (program.kind !== "ours" || unseen !== undefined)
    return `see ${kubectlFor(target, pod, "logs")} -c ${container}, and run registrar doctor --host-root=/host on the node, in kubectl debug node`;
  const paths = `--csi-address=${settings.csiAddress} --kubelet-registration-path=${settings.kubeletRegistrationPath}`;
  return `ask there: ${kubectlFor(target, pod, "exec")} -c ${container} -- /csi-node-driver-registrar doctor ${paths}`;
}

/** Drivers that are registered on every node where they should be. */
function healthyDrivers({ places }: ClusterFacts): Verdicts {
  return [...grouped(places, ({ driver }) => driver)].map(([driver, own]) => {
    if (own.some(({ state }) => state.kind !== "registered")) return undefined;
    const nodes = nodesOf(own);
    return { ...ok(driver, `is registered on ${counted(nodes.length, "node")}`), nodes };
  });
}

export const nodeIds = placeCheck("CSI205", "node-ids", inState("contradicted"), ({ driver, state }) =>
  problem(
    driver,
    `has two node IDs: ${state.reason}`,
    "restart its pod on that node, and see who else writes that annotation",
  ),
);

export const duplicates = placeCheck("CSI206", "duplicates", inState("duplicate"), ({ driver, state }) =>
  problem(driver, `is there more than once: ${state.reason}`, LEAVE_ONE),
);

export const registrarPods = restartCheck("CSI201", "registrar-pods", "is not kept registered", true);

export const driverPods = restartCheck("CSI203", "driver-pods", "does not stay up", false);

function restartCheck(code: string, name: string, text: string, ofRegistrar: boolean) {
  const isMeant = ({ state }: Place) => state.restarts?.isRegistrar === ofRegistrar;
  return placeCheck(code, name, isMeant, (first, facts) =>
    problem(first.driver, `${text}: ${first.state.reason}`, adviceOn(first, facts)),
  );
}

/** What to do about the way in which a container ended. */
function adviceOn({ state, pod }: Place, { target }: ClusterFacts): string {
  const { container, reason, exitCode, message } = state.restarts ?? {};
  const log = `${kubectlFor(target, pod, "logs")} -c ${container} --previous`;
  if (reason === "OOMKilled")
    return "raise the memory limit of that container: 100Mi is enough for a registrar";
  if (message !== "") return `do what the message says; the whole log: ${log}`;
  if (exitCode === 2) return `correct its arguments, one of them is refused: ${log}`;
  if (exitCode === 137 || exitCode === 143)
    return `see who ends it, most often its liveness probe: ${kubectlFor(target, pod, "describe pod")}`;
  return `see why it ended: ${log}`;
}

const doesNotStart = inState("unscheduled", "blocked");

export const podsStart = placeCheck("CSI202", "pods-start", doesNotStart, (first, { target }) => {
  const fix = `see its events: ${kubectlFor(target, first.pod, "describe pod")}`;
  return problem(first.driver, `has a pod that does not start: ${first.state.reason}`, fix);
});
