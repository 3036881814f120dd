import { isPattern } from "../../../host-path/path-pattern";
import { type Tree, text } from "../../../kube-api/objects";
import { boundText } from "../../../logging/escape";
import { APPARMOR_PREFIX, OPT_OUT, type PolicyEngine } from "../../../manifest/image-policy/image-policy";
import { PROGRAM } from "../../../manifest/image-policy/recognise";
import { check, grouped, ok, type Verdict, warning } from "../../findings/finding";
import { counted, podsText } from "../../findings/words";
import type { Deployment } from "../../manifest/read/deployments";
import { hookOf } from "../../manifest/read/pod";
import type { RegistrarPod } from "../read/pod";
import { type ImagePolicy, isByName, NAME_LABEL, selects } from "../read/policy";
import type { ClusterFacts } from "./facts";
import { because, inState, nodesOf, placeCheck } from "./groups";
import { isWithoutRegistrar, type Place, type RegistrarUnit } from "./places";

const ENGINES: Readonly<Record<PolicyEngine, readonly [kind: string, log: string]>> = {
  kubernetes: ["MutatingAdmissionPolicy", "the API server's log"],
  kyverno: ["Kyverno's MutatingPolicy", "Kyverno's log, and which namespaces its webhooks leave out"],
};
const nameOf = ({ engine, name }: ImagePolicy) => `${ENGINES[engine][0]} ${name}`;
const LEAVE_IT = `label the pods of its template ${OPT_OUT.key}=${OPT_OUT.value} to leave it so`;

const imagePolicy = check<ClusterFacts>("CSI215", "image-policy", (facts) => [
  ...facts.policies
    .filter(
      (one) => one.engine === "kubernetes" && facts.bindings?.every(({ policy }) => policy !== one.name),
    )
    .map((policy) =>
      warning(
        nameOf(policy),
        "has no MutatingAdmissionPolicyBinding: it changes no pod",
        "apply the binding that registrar manifest --image-policy writes beside it",
      ),
    ),
  ...facts.policies.map((policy) => judgeNodes(policy, facts)),
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

const restartOf = ({ namespace, shortName }: RegistrarUnit["set"]) =>
  `kubectl -n ${namespace} rollout restart daemonset/${shortName}`;

/** Pods stay without a registrar after the policy that took it out was deleted. CSI216 has those that are not registered. */
function judgeTakenOut(unit: RegistrarUnit, facts: ClusterFacts): Verdict | undefined {
  const pods = (facts.podsOf.get(unit.set.uid) ?? []).filter((pod) => isWithoutRegistrar({ pod, unit }));
  const isKnown = facts.unread.every(({ resource }) => !resource.startsWith("mutating"));
  const isTakenOut = facts.policies.some(({ kind }) => kind === "drop");
  if (pods.length === 0 || !isKnown || isTakenOut || nodeWideIn(facts) === undefined) return undefined;
  const text = `has no registrar in ${counted(pods.length, "pod")}, and no policy takes it out now: the driver needs the registrar of the whole node`;
  const fix = `restart them before that one is deleted: ${restartOf(unit.set)}`;
  return {
    ...warning(unit.registrar.place, text, fix),
    objects: [unit.registrar.object],
    nodes: nodesOf(pods),
  };
}

/** A registrar that pods still have as their DaemonSet's author wrote it, or as the policy was before. */
function judgeUnit(unit: RegistrarUnit, facts: ClusterFacts): readonly Verdict[] {
  return matchedPods(unit, facts).flatMap((matched) => {
    const { left } = matched;
    if (left.length === 0) return [];
    return [{ ...judgeMatch(unit, matched, facts), objects: [unit.registrar.object], nodes: nodesOf(left) }];
  });
}

/** A DaemonSet's pods by the policy that comes nearest to a change of them, as some are for some nodes only; `done`: changed by it. */
function matchedPods(unit: RegistrarUnit, facts: ClusterFacts) {
  const { registrar, set } = unit;
  if (registrar.program.kind === "ours") return [];
  const rankOf = ({ leftAlone }: PolicyMatch) => (leftAlone === undefined ? 0 : leftAlone.fix ? 1 : 2);
  const matches = facts.policies
    .flatMap((policy) => matchesOf(unit, policy, facts))
    .toSorted((one, other) => rankOf(one) - rankOf(other));
  const own = (facts.podsOf.get(set.uid) ?? []).filter(
    (pod) => isWithoutRegistrar({ pod, unit }) || imageIn(pod, unit) !== undefined,
  );
  const byMatch = grouped(own, ({ node }) =>
    matches.find(({ policy }) => policy.nodes === undefined || policy.nodes.has(node)),
  );
  return [...byMatch].flatMap(([match, pods]) => {
    if (match === undefined) return [];
    const done = new Set(pods.filter((pod) => isDone(pod, match, unit)));
    return { match, done, left: pods.filter((pod) => !done.has(pod)) };
  });
}

/** How far the policies' change of a registrar is, in pods; null: no policy changes it. */
export function progressOf(unit: RegistrarUnit, facts: ClusterFacts) {
  const changing = matchedPods(unit, facts).filter(({ match }) => match.leftAlone === undefined);
  if (changing.length === 0) return null;
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

const isOfRegistrar = ({ state, unit }: Place) =>
  state.container !== undefined && state.container.name === unit?.registrar.container;
const isUnregistered = inState("unscheduled", "unregistered", "dropped");
/** A restart of the pods that the policy has not changed would make more such places. */
const isUnwell = (place: Place) => isUnregistered(place) || isOfRegistrar(place);

/** What to do about a container that does not start with the image that a policy gave it; undefined for any other. */
export function undoText(place: Place, facts: ClusterFacts): string | undefined {
  const { unit, pod } = place;
  if (unit === undefined || pod === undefined || !isOfRegistrar(place)) return undefined;
  const giver = matchedPods(unit, facts).find(
    ({ match, done }) => match.policy.image === imageIn(pod, unit) && done.has(pod),
  )?.match.policy;
  if (giver === undefined) return undefined;
  return `its image is from ${nameOf(giver)}: apply that with another, or delete it to have the DaemonSet's back, and 5 s later delete the pod`;
}

function judgeMatch(
  unit: RegistrarUnit,
  { match, done, left }: ReturnType<typeof matchedPods>[number],
  facts: ClusterFacts,
): Verdict {
  const { policy, leftAlone } = match;
  const { place } = unit.registrar;
  const { namespace } = unit.set;
  const images = [...new Set(left.map((pod) => boundText(imageIn(pod, unit) ?? "")))].join(" and ");
  const has = `has ${images} in ${counted(left.length, "pod")}`;
  if (leftAlone !== undefined) {
    const text = `${has}: ${nameOf(policy)} leaves it, because ${leftAlone.why}`;
    return leftAlone.fix === undefined
      ? ok(place, text)
      : warning(place, text, `${leftAlone.fix}, or ${LEAVE_IT}`);
  }
  const made = `${has}, made before ${nameOf(policy)} worked`;
  const unwell = facts.places.flatMap((one) =>
    one.unit === unit && one.pod && done.has(one.pod) && isUnwell(one) ? one.pod.name : [],
  );
  if (unwell.length > 0) {
    const fix = `leave them until the pods that it changed work, or delete the policy; not working: ${podsText(unwell)}`;
    return warning(place, made, fix);
  }
  const pod = left[0]?.name.split("/").at(-1);
  const restart =
    policy.nodes === undefined
      ? `restart them: ${restartOf(unit.set)}`
      : `delete them one by one, and not the other nodes': kubectl -n ${namespace} delete pod ${pod}`;
  const first =
    policy.kind === "drop" && nodeWideIn(facts) === undefined
      ? "apply the DaemonSet of --include=daemonset, then "
      : "";
  return warning(place, made, `${first}${restart}; if they stay so, see ${ENGINES[policy.engine][1]}`);
}

function haveNodeWide(_first: Place, facts: ClusterFacts): string {
  const set = nodeWideIn(facts);
  return set === undefined
    ? "apply the DaemonSet that registrar manifest --image-policy --drop writes, or delete its policy and restart the driver's DaemonSet"
    : `see why it has no ready pod there: kubectl -n ${set.namespace} describe daemonset ${set.shortName}`;
}

interface PolicyMatch {
  readonly policy: ImagePolicy;
  /** Why it leaves the registrar alone; with a fix that is not what was asked for. Undefined: it changes new pods. */
  readonly leftAlone: { readonly why: string; readonly fix?: string } | undefined;
}

function matchesOf(
  { set, registrar }: RegistrarUnit,
  policy: ImagePolicy,
  { bindings, namespaces }: ClusterFacts,
): readonly PolicyMatch[] {
  const { namespace } = set;
  const labels = namespaces.get(namespace) ?? { [NAME_LABEL]: namespace };
  // Kyverno has none. If bindings cannot be read, there is one that selects all.
  const own = policy.engine === "kyverno" ? undefined : bindings;
  const bound = own?.filter((binding) => binding.policy === policy.name) ?? [policy];
  return bound.flatMap(({ selection }) => {
    const both = [policy.selection, selection];
    const isKnown = namespaces.has(namespace) || both.every((one) => isByName(one.namespaces));
    if (!isKnown) return [];
    if (!both.every((one) => selects(one.namespaces, labels)))
      return { policy, leftAlone: { why: "its namespace is not selected" } };
    if (!both.every((one) => selects(one.pods, set.podLabels)))
      return { policy, leftAlone: { why: "its pods opt out by their labels" } };
    return { policy, leftAlone: whyLeftAlone(registrar, policy, set.podAnnotations) };
  });
}

function whyLeftAlone(
  one: Deployment,
  { images, kind, served }: ImagePolicy,
  annotations: Tree,
): PolicyMatch["leftAlone"] {
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
  if (!one.hasDriver) return { why: "it is the pod's only container" };
  if (!(`${APPARMOR_PREFIX}${one.container}` in annotations)) return undefined;
  return { why: "an annotation has its AppArmor profile" };
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
