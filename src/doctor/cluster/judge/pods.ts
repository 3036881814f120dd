import { problem } from "../../findings/finding";
import type { ClusterFacts } from "./facts";
import { inState, kubectlFor, placeCheck } from "./groups";
import type { Place } from "./places";

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

export const podsStart = placeCheck(
  "CSI202",
  "pods-start",
  inState("unscheduled", "blocked"),
  (first, { target }) =>
    problem(
      first.driver,
      `has a pod that does not start: ${first.state.reason}`,
      `see its events: ${kubectlFor(target, first.pod, "describe pod")}`,
    ),
);
