import { isPattern } from "../../../host-path/path-pattern";
import type { Tree } from "../../../kube-api/objects";
import { boundText } from "../../../logging/escape";
import { APPARMOR_PREFIX, OPT_OUT, type PolicyEngine } from "../../../manifest/image-policy/image-policy";
import { PROGRAM } from "../../../manifest/image-policy/recognise";
import { check, grouped, ok, type Verdict, warning } from "../../findings/finding";
import { counted } from "../../findings/words";
import type { Deployment } from "../../manifest/read/deployments";
import { hookOf } from "../../manifest/read/pod";
import type { ClusterReading } from "../read/cluster";
import type { RegistrarPod } from "../read/pod";
import { type ImagePolicy, isByName, NAME_LABEL, selects } from "../read/policy";
import type { ClusterFacts } from "./facts";
import { inState, placeCheck } from "./groups";
import type { RegistrarUnit } from "./places";

/** What each engine calls its policies, what carries them out, and where its failures are logged. */
const ENGINES: Readonly<
  Record<PolicyEngine, { readonly kind: string; readonly doer: string; readonly log: string }>
> = {
  kubernetes: {
    kind: "MutatingAdmissionPolicy",
    doer: "the API server",
    log: "the API server's log",
  },
  kyverno: {
    kind: "Kyverno's MutatingPolicy",
    doer: "Kyverno",
    log: "its log, and whether its webhooks leave the namespace out, as kube-system by default",
  },
};
const nameOf = ({ policy: { engine, name } }: Pick<PolicyMatch, "policy">) =>
  `${ENGINES[engine].kind} ${name}`;
const LEAVE_IT = `label the pods of its template ${OPT_OUT.key}=${OPT_OUT.value} to leave it so`;

const imagePolicy = check<ClusterFacts>("CSI215", "image-policy", (facts) => [
  ...facts.policies
    .filter(
      ({ engine, name }) => engine === "kubernetes" && facts.bindings?.every(({ policy }) => policy !== name),
    )
    .map((policy) =>
      warning(
        nameOf({ policy }),
        "has no MutatingAdmissionPolicyBinding: it changes no pod",
        "apply the binding that registrar manifest --image-policy writes beside it",
      ),
    ),
  ...facts.units.flatMap((unit) => judgeUnit(unit, facts)),
]);

/** A registrar that pods still have as their DaemonSet's author wrote it, or as the policy was before. */
function judgeUnit(unit: RegistrarUnit, facts: ClusterFacts): readonly Verdict[] {
  return matchedPods(unit, facts).flatMap(({ match, pods: all }) => {
    const pods = all.filter((pod) => !isDone(pod, match, unit));
    const nodes = [...new Set(pods.flatMap(({ node }) => node ?? []))];
    if (pods.length === 0) return [];
    return [{ ...judgeMatch(unit, match, pods), objects: [unit.registrar.object], nodes }];
  });
}

/** The pods of a registrar that one policy is for. */
interface MatchedPods {
  readonly match: PolicyMatch;
  readonly pods: readonly RegistrarPod[];
}

/** A DaemonSet's pods by the policy that comes nearest to a change of them. Policies may be for some nodes only. */
function matchedPods(
  unit: RegistrarUnit,
  facts: Policies & Pick<ClusterReading, "pods">,
): readonly MatchedPods[] {
  const { registrar, set } = unit;
  if (registrar.program.kind === "ours") return [];
  const matches = facts.policies
    .flatMap((policy) => matchesOf(unit, policy, facts))
    .toSorted((one, other) => rankOf(other) - rankOf(one));
  const own = facts.pods.filter(
    ({ setUid, running }) =>
      setUid === set.uid &&
      [...running.dropped, ...running.registrars.map(({ container }) => container)].includes(
        registrar.container,
      ),
  );
  const byMatch = grouped(own, ({ node }) =>
    matches.find(({ policy }) => policy.nodes === undefined || policy.nodes.has(node)),
  );
  return [...byMatch].flatMap(([match, pods]) => (match === undefined ? [] : { match, pods }));
}

/** How far the policies' change of a registrar is, in pods; null: no policy changes it. */
export function progressOf(unit: RegistrarUnit, facts: Policies & Pick<ClusterReading, "pods">) {
  const changing = matchedPods(unit, facts).filter(({ match }) => match.leftAlone === "none");
  if (changing.length === 0) return null;
  return changing.flatMap(({ match, pods }) => pods.filter((pod) => isDone(pod, match, unit))).length;
}

/** If the policy leaves a registrar alone, only an unchanged one is its work. */
function isDone(
  { running }: RegistrarPod,
  { policy, leftAlone }: PolicyMatch,
  { registrar }: RegistrarUnit,
): boolean {
  const image = running.registrars.find(({ container }) => container === registrar.container)?.image;
  if (image === undefined) return true;
  if (image === registrar.image) return false;
  return leftAlone !== "none" || policy.image === image;
}

function judgeMatch(unit: RegistrarUnit, match: PolicyMatch, pods: readonly RegistrarPod[]): Verdict {
  const { registrar, set } = unit;
  const { place } = registrar;
  const [namespace = "", name] = set.name.split("/");
  const by = nameOf(match);
  const has = registrarIn(unit, pods);
  if (match.leftAlone === "none") {
    const pod = pods[0]?.name.split("/").at(-1);
    const restart =
      match.policy.nodes === undefined
        ? `restart them: kubectl -n ${namespace} rollout restart daemonset/${name}`
        : `delete them one by one, and not the other nodes': kubectl -n ${namespace} delete pod ${pod}`;
    const { doer, log } = ENGINES[match.policy.engine];
    return pods.every(({ createdMs }) => createdMs <= match.sinceMs)
      ? warning(place, `${has}, older than ${by}`, restart)
      : warning(
          place,
          `${has}, made after ${by}: ${doer} did not have it yet, or could not evaluate it`,
          `${restart}; if they stay so, see ${log}`,
        );
  }
  const [why, fix] = LEFT_ALONE[match.leftAlone]({
    ...{ by, namespace },
    program: boundText(otherProgramOf(registrar) ?? ""),
  });
  const text = `${has}: ${why}`;
  return fix === undefined ? ok(place, text) : warning(place, text, `${fix}, or ${LEAVE_IT}`);
}

/** The images of these pods, which an earlier form of the policy may have changed. */
function registrarIn({ registrar }: RegistrarUnit, pods: readonly RegistrarPod[]): string {
  const images = pods.flatMap(({ running }) =>
    running.registrars.filter((one) => one.container === registrar.container).map((one) => one.image),
  );
  const names = [...new Set(images)].map((image) => boundText(image)).join(" and ");
  return `has ${names} in ${counted(pods.length, "pod")}`;
}

const dropped = placeCheck("CSI216", "dropped", inState("dropped"), (first, facts) => {
  const nodeWide = facts.units.find(({ driver }) => driver.kind === "every");
  const [namespace = "", name] = (nodeWide?.set.name ?? "").split("/");
  return {
    status: "problem",
    subject: first.driver,
    text: "has no registrar: its pod was made without one, and no registrar of the whole node runs there",
    fix:
      nodeWide === undefined
        ? "apply the DaemonSet that registrar manifest --image-policy --drop writes, or delete its policy and restart the driver's DaemonSet"
        : `see why it has no ready pod on each of these nodes: kubectl -n ${namespace} describe daemonset ${name}`,
  };
});

type Policies = Pick<ClusterReading, "policies" | "bindings" | "namespaces">;

interface Words {
  readonly by: string;
  readonly namespace: string;
  readonly program: string;
}

/** Why a policy leaves a registrar alone, in the order in which it asks. With a fix it is not what was asked for. */
const LEFT_ALONE = {
  namespace: ({ by, namespace }: Words) => [`${by} does not select namespace ${namespace}`],
  "opted-out": ({ by }: Words) => [`by their labels its pods opt out of ${by}`],
  windows: ({ by }: Words) => [`they are for Windows, which ${by} leaves alone`],
  image: ({ by }: Words) => [
    `${by} does not know the image's name`,
    "write the policy with --match-image and the last part of the name",
  ],
  program: ({ by, program }: Words) => [
    `it runs ${program}, which this registrar's image does not have, so ${by} leaves it alone`,
    "take that command, probe or hook out",
  ],
  socket: ({ by }: Words) => [
    `the registrar of the whole node would not find its driver's socket, so ${by} leaves it alone`,
    "put the socket at <kubelet root>/plugins/NAME/csi.sock",
  ],
  "only-container": ({ by }: Words) => [`it is the pod's only container, which ${by} leaves`],
  apparmor: ({ by }: Words) => [`an annotation has its AppArmor profile, and so ${by} leaves it`],
};
/** `none`: it changes new pods. */
type LeftAlone = keyof typeof LEFT_ALONE | "none";

interface PolicyMatch {
  readonly policy: ImagePolicy;
  readonly leftAlone: LeftAlone;
  /** Since when it is so, in Unix time. */
  readonly sinceMs: number;
}

const RANKS: readonly string[] = [...Object.keys(LEFT_ALONE), "none"];
const rankOf = ({ leftAlone }: PolicyMatch) => RANKS.indexOf(leftAlone);

function matchesOf(
  { set, registrar }: RegistrarUnit,
  policy: ImagePolicy,
  { bindings, namespaces }: Policies,
): readonly PolicyMatch[] {
  const [namespace = ""] = set.name.split("/");
  const labels = namespaces.get(namespace) ?? { [NAME_LABEL]: namespace };
  // Kyverno has none. If bindings cannot be read, there is one that selects all.
  const own = policy.engine === "kyverno" ? undefined : bindings;
  const bound = own?.filter((binding) => binding.policy === policy.name) ?? [policy];
  return bound.flatMap(({ changedMs, selection }) => {
    const both = [policy.selection, selection];
    const isKnown = namespaces.has(namespace) || both.every((one) => isByName(one.namespaces));
    if (!isKnown) return [];
    const sinceMs = Math.max(policy.changedMs, changedMs);
    if (!both.every((one) => selects(one.namespaces, labels)))
      return { policy, sinceMs, leftAlone: "namespace" };
    if (!both.every((one) => selects(one.pods, set.podLabels)))
      return { policy, sinceMs, leftAlone: "opted-out" };
    return { policy, sinceMs, leftAlone: whyLeftAlone(registrar, policy, set.podAnnotations) };
  });
}

function whyLeftAlone(one: Deployment, { images, kind, served }: ImagePolicy, annotations: Tree): LeftAlone {
  if (one.isForWindows) return "windows";
  if (!images.test(one.image)) return "image";
  if (otherProgramOf(one) !== undefined) return "program";
  if (kind === "swap") return "none";
  const { kubeletRegistrationPath: path } = one.settings;
  if (isPattern(path) || served?.test(path) === false) return "socket";
  if (!one.hasDriver) return "only-container";
  return `${APPARMOR_PREFIX}${one.container}` in annotations ? "apparmor" : "none";
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

export const policyChecks = [imagePolicy, dropped];
