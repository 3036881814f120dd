import { check, ok, problem, unknown, type Verdict, warning } from "../../findings/finding";
import type { DriverRow } from "../../findings/report";
import { podsText } from "../../rules/words";
import type { Facts } from "../read/facts";
import { driversIn } from "./drivers";
import { failureText } from "./words";

const PODS_API = "kubelet's Pods API";

export const waitingPods = check("CSI023", "waiting-pods", (facts: Facts) => {
  const { pods } = facts;
  if (pods === undefined || pods.kind === "not-asked") return undefined;
  if (pods.kind === "failed") return unknown(PODS_API, failureText("ListPods", pods));
  const verdicts = driversIn(facts).flatMap((row) => judge(row, facts) ?? []);
  return verdicts.length > 0
    ? verdicts
    : ok(PODS_API, "names no pod that waits for the driver of an inline volume");
});

function judge({ name, state, waitingPods }: DriverRow, { target }: Facts): Verdict | undefined {
  if (name === null || waitingPods === null || waitingPods.length === 0) return undefined;
  const who = podsText(waitingPods);
  switch (state) {
    case "missing":
      return (target.csiSocketPath === undefined ? problem : warning)(
        name,
        `is waited for by ${who}, and no driver that answers here has this name`,
        "deploy its node plugin to this node: do nodeSelector and tolerations of its DaemonSet fit the node? Or correct the name in the pod",
      );
    case "untold":
      return unknown(
        name,
        `may be waited for by ${who}: its registrar does not tell whether kubelet registered it`,
        "kubectl describe pod shows what a pod waits for",
      );
    default:
      return warning(
        name,
        `is waited for by ${who}, and is ${state}`,
        "repair what keeps the driver away; kubelet tries again by itself, after 2 minutes at the latest",
      );
  }
}
