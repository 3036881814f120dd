import { isPattern } from "../../../../host-path/path-pattern";
import { text } from "../../../../kube-api/objects";
import { boundText } from "../../../../logging/escape";
import { OPT_OUT } from "../../../manifest/image-policy/image-policy";
import { PROGRAM } from "../../../manifest/image-policy/recognise";
import { check, grouped, ok, type Verdict, warning } from "../../findings/finding";
import { counted, podsText } from "../../findings/words";
import type { Deployment } from "../../manifest/read/deployments";
import { hookOf } from "../../manifest/read/pod";
import type { RegistrarPod } from "../read/pod";
import { type ImagePolicy, isByName, NAME_LABEL, selects } from "../read/policy";
import type { ClusterFacts } from "./facts";
import { because, inState, kubectlFor, nodesOf, placeCheck } from "./groups";
import { isWithoutRegistrar, type Place } from "./places";
import { notRead, type RegistrarUnit } from "./units";

const nameOf = ({ name }: ImagePolicy) => `MutatingAdmissionPolicy ${name}`;
const LEAVE_IT = `label the pods of its template ${OPT_OUT.key}=${OPT_OUT.value} to leave it so`;

const imagePolicy = check<ClusterFacts>("CSI215", "image-policy", (facts) => [
  ...(facts.policies ?? [])
    .filter((one) => facts.bindings.every(({ policy }) => policy !== one.name))
    .map((policy) =>
      warning(
        nameOf(policy),
        "has no MutatingAdmissionPolicyBinding: it changes no pod",
        "apply the binding that registrar manifest --image-policy writes beside it",
      ),
    ),
  ...(facts.policies ?? []).map((policy) => judgeNodes(policy, facts)),
  ...facts.units.map((unit) => judgeTakenOut(unit, facts)),
  ...facts.units.flatMap((unit) => judgeUnit(unit, facts)),
]);

/** A misspelt node, or one that is gone: the policy changes no pod there. */
function judgeNodes(policy: ImagePolicy, { nodes, target }: ClusterFacts): Verdict | undefined {
  const others = [...(policy.nodes ?? [])].map(text).filter((name) => nodes?.has(name) === false);
  if (others.length === 0 || target.node !== undefined) return undefined;
  const fix = "correct --nodes or --nodes-file, and apply the policy again";
  return warning(nameOf(policy), `names nodes that are not there: ${boundText(others.join(", "))}`, fix);
}

const nodeWideIn = ({ units }: ClusterFacts) => units.find(({ driver }) => driver.kind === "every")?.set;

const restartOf = ({ set }: RegistrarUnit, { target }: ClusterFacts) =>
  kubectlFor(target, "rollout restart daemonset", set.name);

/** Pods stay without a registrar after the policy that took it out was deleted. CSI216 has those that are not registered. */
function judgeTakenOut(unit: RegistrarUnit, facts: ClusterFacts): Verdict | undefined {
  const { registrar, set } = unit;
  const pods = (facts.podsOf.get(set.uid) ?? []).filter((pod) => isWithoutRegistrar({ pod, unit }));
  // Without the policies one of them may do it.
  const isTakenOut = facts.policies?.some(({ kind }) => kind === "drop") ?? true;
  if (pods.length === 0 || isTakenOut || nodeWideIn(facts) === undefined) return undefined;
  const text = `has no registrar in ${counted(pods.length, "pod")}, and no policy takes it out now: the driver needs the registrar of the whole node`;
  const fix = `restart them before that one is deleted: ${restartOf(unit, facts)}`;
  return { ...warning(registrar.place, text, fix), objects: [registrar.object], nodes: nodesOf(pods) };
}

/** A registrar that pods still have as their DaemonSet's author wrote it, or as the policy was before. */
function judgeUnit(unit: RegistrarUnit, facts: ClusterFacts): readonly Verdict[] {
  return matchedPods(unit, facts).flatMap((matched) => {
    if (matched.left.length === 0) return [];
    const verdict = judgeMatch(unit, matched, facts);
    return [{ ...verdict, objects: [unit.registrar.object], nodes: nodesOf(matched.left) }];
  });
}

/** A DaemonSet's pods by the policy that decides on them, as some are for some nodes only; `done`: changed by it. */
function matchedPods(unit: RegistrarUnit, facts: ClusterFacts) {
  const { registrar, set } = unit;
  if (registrar.program.kind === "ours") return [];
  const all = (facts.policies ?? []).flatMap((policy) => matchesOf(unit, policy, facts));
  const own = (facts.podsOf.get(set.uid) ?? []).filter(
    (pod) => isWithoutRegistrar({ pod, unit }) || imageIn(pod, unit) !== undefined,
  );
  return [...grouped(own, (pod) => decidingOn(pod, all))].flatMap(([match, pods]) => {
    if (match === undefined) return [];
    const done = new Set(pods.filter((pod) => isDone(pod, match, unit)));
    return { match, done, left: pods.filter((pod) => !done.has(pod)) };
  });
}

/** What decides on a new pod of this one's node: a policy that would change it; without any, what comes nearest to that. */
function decidingOn({ node }: RegistrarPod, all: readonly PolicyMatch[]): PolicyMatch | undefined {
  const here = all.filter(({ policy }) => policy.nodes === undefined || policy.nodes.has(node));
  const changing = here.filter(({ leftAlone }) => leftAlone === undefined);
  const drop = changing.find(({ policy }) => policy.kind === "drop");
  return drop ?? changing[0] ?? here.find(({ leftAlone }) => leftAlone?.fix !== undefined) ?? here[0];
}

/** How far the policies' change of a registrar is, in pods; null: no policy changes it. */
export function progressOf(unit: RegistrarUnit, facts: ClusterFacts) {
  const changing = matchedPods(unit, facts).filter(({ match }) => match.leftAlone === undefined);
  if (changing.length === 0 || notRead(facts, "pods")) return null;
  return changing.reduce((sum, { done }) => sum + done.size, 0);
}

const imageIn = ({ running }: RegistrarPod, { registrar }: RegistrarUnit) =>
  running.registrars.find(({ container }) => container === registrar.container)?.image;

/** If the policy leaves a registrar alone, only an unchanged one is its work. */
function isDone(pod: RegistrarPod, { policy, leftAlone }: PolicyMatch, unit: RegistrarUnit): boolean {
  const image = imageIn(pod, unit);
  if (image === undefined) return true;
  if (image === unit.registrar.image) return false;
  return leftAlone !== undefined || policy.image === image;
}

const isOfRegistrar = ({ state: { blocked, container }, unit }: Place) =>
  unit !== undefined && unit.registrar.container === (blocked ?? container?.name);
const isUnregistered = inState("unscheduled", "unregistered", "dropped");

type Matched = ReturnType<typeof matchedPods>[number];

function judgeMatch(unit: RegistrarUnit, { match, done, left }: Matched, facts: ClusterFacts): Verdict {
  const { policy, leftAlone } = match;
  const { place } = unit.registrar;
  const images = [...new Set(left.map((pod) => boundText(imageIn(pod, unit) ?? "")))].join(" and ");
  const has = `has ${images} in ${counted(left.length, "pod")}`;
  if (leftAlone !== undefined) {
    const text = `${has}: ${nameOf(policy)} leaves it, because ${leftAlone.why}`;
    return leftAlone.fix === undefined
      ? ok(place, text)
      : warning(place, text, `${leftAlone.fix}, or ${LEAVE_IT}`);
  }
  const made = `${has}, made before ${nameOf(policy)} worked`;
  // A restart would make more of them.
  const unwell = facts.places.filter(
    (one) => one.unit === unit && (isUnregistered(one) || isOfRegistrar(one)),
  );
  const changed = unwell.flatMap(({ pod }) => (pod && done.has(pod) ? pod.name : []));
  if (changed.length > 0) {
    const advice = "leave them until the pods that it changed work, or delete the policy";
    return warning(place, made, `${advice}; not working: ${podsText(changed)}`);
  }
  const restart =
    policy.nodes === undefined
      ? `restart them: ${restartOf(unit, facts)}`
      : `delete them one by one, and not the other nodes': ${kubectlFor(facts.target, "delete pod", left[0]?.name)}`;
  const isAlone = policy.kind === "drop" && nodeWideIn(facts) === undefined;
  const first = isAlone ? "apply the DaemonSet of --include=daemonset, then " : "";
  return warning(place, made, `${first}${restart}; if they stay so, see the API server's log`);
}

function haveNodeWide(_first: Place, facts: ClusterFacts): string {
  const set = nodeWideIn(facts);
  return set === undefined
    ? "apply the DaemonSet that registrar manifest --image-policy --drop writes, or delete its policy and restart the driver's DaemonSet"
    : `see why it has no ready pod there: ${kubectlFor(facts.target, "describe daemonset", set.name)}`;
}

interface PolicyMatch {
  readonly policy: ImagePolicy;
  /** Why it leaves the registrar alone; with a fix that is not what was asked for. Undefined: it changes new pods. */
  readonly leftAlone: { readonly why: string; readonly fix?: string } | undefined;
}

function matchesOf(
  { set, registrar }: RegistrarUnit,
  policy: ImagePolicy,
  { bindings }: ClusterFacts,
): readonly PolicyMatch[] {
  const labels = { [NAME_LABEL]: set.namespace };
  const bound = bindings.filter((binding) => binding.policy === policy.name);
  return bound.flatMap(({ selection }) => {
    const both = [policy.selection, selection];
    // Other labels of a namespace are not read.
    if (!both.every((one) => isByName(one.namespaces))) return [];
    if (!both.every((one) => selects(one.namespaces, labels)))
      return { policy, leftAlone: { why: "its namespace is not selected" } };
    if (!both.every((one) => selects(one.pods, set.podLabels)))
      return { policy, leftAlone: { why: "its pods opt out by their labels" } };
    return { policy, leftAlone: whyLeftAlone(registrar, policy) };
  });
}

function whyLeftAlone(one: Deployment, { images, kind, served }: ImagePolicy): PolicyMatch["leftAlone"] {
  if (one.isForWindows) return { why: "it is for Windows" };
  if (!images.test(one.image)) {
    const fix = "write the policy with --match-image and the last part of the name";
    return { why: "it does not know the image's name", fix };
  }
  const program = otherProgramOf(one);
  if (program !== undefined) {
    const why = `it runs ${boundText(program)}, which this registrar's image does not have`;
    return { why, fix: "take that command, probe or hook out" };
  }
  if (kind === "swap") return undefined;
  const { kubeletRegistrationPath: path } = one.settings;
  if (isPattern(path) || served?.test(path) === false) {
    const why = "the registrar of the whole node would not find its driver's socket";
    return { why, fix: "put the socket at <kubelet root>/plugins/NAME/csi.sock" };
  }
  return one.hasDriver ? undefined : { why: "it is the pod's only container" };
}

/** The program that a container, its exec probe or its hook runs in place of the registrar; our image does not have it. */
function otherProgramOf({ command, probes, source }: Deployment): string | undefined {
  const programs = [
    command[0],
    ...probes.map((probe) => probe.command[0]),
    hookOf(source.container, "postStart")[0],
  ];
  return programs.find((program) => program !== undefined && program !== PROGRAM);
}

export const policyChecks = [
  imagePolicy,
  placeCheck("CSI216", "dropped", inState("dropped"), because("has no registrar: ", haveNodeWide)),
];
