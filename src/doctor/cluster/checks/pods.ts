import { type Check, problem } from "../../findings/finding";
import type { ClusterFacts } from "../cluster-facts";
import type { ClusterTarget, Restarts } from "../facts";
import { groupsIn, ofGroup } from "../groups";
import { kubectlFor, reasonOf } from "../place-text";

export const registrarPods: Check<ClusterFacts> = {
  code: "CSI201",
  name: "registrar-pods",
  verdicts: (facts) =>
    groupsIn(facts, "restarting", ({ isRegistrar }) => isRegistrar).map((group) => {
      const { driver, first } = group;
      const advice = adviceOn(first.state, facts.target, first.pod?.name ?? "");
      return ofGroup(problem(driver, `is not kept registered: ${reasonOf(first)}`, advice), group);
    }),
};

/** What to do where a container ended so. */
export function adviceOn(restarts: Restarts, target: ClusterTarget, podName: string): string {
  const { container, reason, exitCode, message } = restarts;
  const log = `${kubectlFor(target, podName, "logs")} -c ${container} --previous`;
  if (reason === "OOMKilled")
    return "raise the memory limit of that container: 100Mi is enough for a registrar";
  if (message !== "") return `do what the message says; the whole log: ${log}`;
  if (exitCode === 2) return `correct its arguments, one of them is refused: ${log}`;
  if (exitCode === 137 || exitCode === 143)
    return `see who ends it, most often its liveness probe: ${kubectlFor(target, podName, "describe pod")}`;
  return `see why it ended: ${log}`;
}

export const podsStart: Check<ClusterFacts> = {
  code: "CSI202",
  name: "pods-start",
  verdicts: (facts) =>
    [...groupsIn(facts, "unscheduled"), ...groupsIn(facts, "blocked")].map((group) => {
      const { driver, first } = group;
      const describe = kubectlFor(facts.target, first.pod?.name ?? "", "describe pod");
      return ofGroup(
        problem(driver, `has a pod that does not start: ${reasonOf(first)}`, `see its events: ${describe}`),
        group,
      );
    }),
};

export const driverPods: Check<ClusterFacts> = {
  code: "CSI203",
  name: "driver-pods",
  verdicts: (facts) =>
    groupsIn(facts, "restarting", ({ isRegistrar }) => !isRegistrar).map((group) => {
      const { driver, first } = group;
      const advice = adviceOn(first.state, facts.target, first.pod?.name ?? "");
      return ofGroup(problem(driver, `does not stay up: ${reasonOf(first)}`, advice), group);
    }),
};
