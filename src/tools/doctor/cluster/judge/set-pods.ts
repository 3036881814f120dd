import { problem, unknown, type Verdicts } from "../../findings/finding";
import { nothing } from "../../findings/seen";
import { counted } from "../../findings/words";
import { isYoung } from "../read/pod";
import type { RegistrarSet } from "../read/set";
import { bySet } from "../read/units";
import type { ClusterFacts } from "./facts";
import { kubectl } from "./groups";
import { lackText } from "./troubles";

export const judgeSets = (facts: ClusterFacts) =>
  bySet(facts.units).map(({ first: { set } }) => judgePods(set, facts));

/** Pods of a set that are not there, unless they may just be on their way: after a roll-out, or for a new node. */
function judgePods(set: RegistrarSet, facts: ClusterFacts): Verdicts {
  const text = "has a status that its controller has not written for its latest change";
  const see = kubectl(
    "see whether kube-controller-manager runs",
    facts.target,
    "get pods",
    "kube-system/",
    " -l component=kube-controller-manager",
  );
  if (set.isUncounted && !isYoung(set, facts.nowMs)) return problem(`DaemonSet ${set.name}`, text, see);
  return set.counts({
    seen: (counts) => judgeCounts(counts, set, facts),
    unread: (gap) => unknown(`DaemonSet ${gap.subject}`, text, see),
  });
}

function judgeCounts(
  { current, desired }: Readonly<Record<"current" | "desired", number>>,
  { name, uid, ...set }: RegistrarSet,
  { nodes, leavingOf, nowMs, target }: ClusterFacts,
): Verdicts {
  if (current >= desired) return undefined;
  const text = `has only ${current.toLocaleString("en")} of ${counted(desired, "pod")}: the others were not created`;
  const fix = kubectl("see its events", target, "describe daemonset", name);
  const isChanging = leavingOf(uid).contains().or(isYoung(set, nowMs));
  return isChanging.or(nodes.contains((node) => isYoung(node, nowMs)))({
    yes: nothing,
    no: () => problem(`DaemonSet ${name}`, text, fix),
    unknown: (gaps) => unknown(`DaemonSet ${name}`, `${text}, and ${lackText(gaps)}`),
  });
}
