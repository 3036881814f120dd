import { boundText } from "../../../logging/escape";
import { OPT_OUT } from "../../../manifest/image-policy/image-policy";
import { check, ok, type Verdict, warning } from "../../findings/finding";
import { counted } from "../../rules/words";
import type { RegistrarPod } from "../read/pod";
import type { RegistrarUnit } from "./driver-names";
import type { ClusterFacts } from "./facts";
import { inState, placeCheck } from "./groups";
import { matchOf, otherProgramOf, type PolicyMatch } from "./policy-match";

/** Kinds of objects are named as kubectl names them. */
const nameOf = ({ policy }: Pick<PolicyMatch, "policy">) => `MutatingAdmissionPolicy ${policy.name}`;
const LEAVE_IT = `label the pods of its template ${OPT_OUT.key}=${OPT_OUT.value} to leave it so`;

export const imagePolicy = check<ClusterFacts>("CSI215", "image-policy", (facts) => [
  ...facts.policies
    .filter(({ name }) => facts.bindings?.every(({ policy }) => policy !== name))
    .map((policy) =>
      warning(
        nameOf({ policy }),
        "has no MutatingAdmissionPolicyBinding: it changes no pod",
        "apply the binding that registrar manifest --image-policy writes beside it",
      ),
    ),
  ...facts.units.map((unit) => judgeUnit(unit, facts)),
]);

/** A registrar that pods still have as their DaemonSet's author wrote it, or as the policy was before. */
function judgeUnit(unit: RegistrarUnit, facts: ClusterFacts): Verdict | undefined {
  const { registrar, set } = unit;
  if (registrar.program.kind === "ours") return undefined;
  const match = matchOf(unit, facts);
  if (match === undefined) return undefined;
  const isLeft = ({ setUid, running }: RegistrarPod) =>
    setUid === set.uid &&
    running.registrars.some(
      ({ container, image }) => container === registrar.container && !isDone(image, match, unit),
    );
  const pods = facts.pods.filter(isLeft);
  if (pods.length === 0) return undefined;
  const nodes = [...new Set(pods.flatMap(({ node }) => node ?? []))];
  return { ...judgeMatch(unit, match, pods), nodes };
}

/** If the policy leaves a registrar alone, only an unchanged one is its work. */
function isDone(image: string, { policy, leftAlone }: PolicyMatch, { registrar }: RegistrarUnit): boolean {
  if (image === registrar.image) return false;
  return leftAlone !== "none" || (policy.kind === "swap" && (policy.image ?? image) === image);
}

function judgeMatch(unit: RegistrarUnit, match: PolicyMatch, pods: readonly RegistrarPod[]): Verdict {
  const { registrar, set } = unit;
  const [namespace = "", name] = set.name.split("/");
  const by = nameOf(match);
  const image = boundText(registrar.image);
  const has = `has ${image} in ${counted(pods.length, "pod")}`;
  const { place } = registrar;
  switch (match.leftAlone) {
    case "namespace":
      return ok(place, `${has}: ${by} does not select namespace ${namespace}`);
    case "opted-out":
      return ok(place, `${has}: by their labels its pods opt out of ${by}`);
    case "windows":
      return ok(place, `${has}: they are for Windows, which ${by} leaves alone`);
    case "image":
      return warning(
        place,
        `${has}: ${by} does not know the image's name`,
        `write the policy with --match-image and the last part of the name, or ${LEAVE_IT}`,
      );
    case "program":
      return warning(
        place,
        `${has}: it runs ${boundText(otherProgramOf(registrar) ?? "")}, which this registrar's image does not have, so ${by} leaves it alone`,
        `take that command, probe or hook out, or ${LEAVE_IT}`,
      );
    case "socket":
      return warning(
        place,
        `${has}: the registrar of the whole node would not find its driver's socket, so ${by} leaves it alone`,
        `put the socket at <kubelet root>/plugins/NAME/csi.sock, or ${LEAVE_IT}`,
      );
    case "only-container":
      return ok(place, `${has}: it is the pod's only container, which ${by} leaves`);
    case "none": {
      const older = pods.filter(({ createdMs }) => createdMs <= match.sinceMs);
      const restart = `kubectl -n ${namespace} rollout restart daemonset/${name}`;
      if (older.length === pods.length)
        return warning(place, `${registrarIn(unit, pods)}, older than ${by}`, `restart them: ${restart}`);
      return warning(
        place,
        `${registrarIn(unit, pods)}, made after ${by}: the API server did not have it yet, or could not evaluate it`,
        `restart them: ${restart}; if they stay so, see the API server's log`,
      );
    }
    default:
      return match.leftAlone satisfies never;
  }
}

/** The images of these pods, which an earlier form of the policy may have changed. */
function registrarIn({ registrar }: RegistrarUnit, pods: readonly RegistrarPod[]): string {
  const images = pods.flatMap(({ running }) =>
    running.registrars.filter((one) => one.container === registrar.container).map((one) => one.image),
  );
  const names = [...new Set(images)].map((image) => boundText(image)).join(" and ");
  return `has ${names} in ${counted(pods.length, "pod")}`;
}

export const dropped = placeCheck("CSI216", "dropped", inState("dropped"), (first, facts) => {
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
