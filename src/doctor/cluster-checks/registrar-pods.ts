import type { ClusterFacts } from "../cluster/cluster-facts";
import type { ClusterTarget, Restarts } from "../cluster/facts";
import { groupsIn, ofGroup } from "../cluster/groups";
import { kubectlFor, reasonOf } from "../cluster/place-text";
import { type Check, problem } from "../finding";

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
