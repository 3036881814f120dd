import { type Check, problem, type Verdict } from "../../findings/finding";
import type { ClusterFacts } from "../cluster-facts";
import type { ClusterTarget, Restarts } from "../facts";
import { judgeIn } from "../groups";
import { kubectlFor, reasonOf } from "../place-text";

export const registrarPods: Check<ClusterFacts> = {
  code: "CSI201",
  name: "registrar-pods",
  verdicts: (facts) => judgeRestarts(facts, "is not kept registered", true),
};

export const driverPods: Check<ClusterFacts> = {
  code: "CSI203",
  name: "driver-pods",
  verdicts: (facts) => judgeRestarts(facts, "does not stay up", false),
};

function judgeRestarts(facts: ClusterFacts, text: string, ofRegistrar: boolean): readonly Verdict[] {
  return judgeIn(
    facts,
    "restarting",
    (first) => {
      const advice = adviceOn(first.state, facts.target, first.pod?.name ?? "");
      return problem(first.driver, `${text}: ${reasonOf(first)}`, advice);
    },
    ({ isRegistrar }) => isRegistrar === ofRegistrar,
  );
}

/** What to do where a container ended so. */
function adviceOn(restarts: Restarts, target: ClusterTarget, podName: string): string {
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
    (["unscheduled", "blocked"] as const).flatMap((kind) =>
      judgeIn(facts, kind, (first) => {
        const describe = kubectlFor(facts.target, first.pod?.name ?? "", "describe pod");
        const text = `has a pod that does not start: ${reasonOf(first)}`;
        return problem(first.driver, text, `see its events: ${describe}`);
      }),
    ),
};
