import { isPattern } from "../../../../host-path/path-pattern";
import { boundText } from "../../../../logging/escape";
import { isOtherSidecar, lastPart } from "../../../recognise/image";
import { flat } from "../../findings/finding";
import { mountOf } from "../read/pod";
import type { RegistrarContainer } from "../read/registrars";
import { eachRegistrar, ok, problem, type Statement, unknown, warning } from "./each-registrar";

export const manifestArguments = eachRegistrar("CSI101", "manifest-arguments", (one) => {
  const found = flat([judgeForeign(one), judgeJoined(one), judgePatterns(one)]);
  const judged = judgeStart(one);
  // What one text of several arguments lacks may be in it.
  const isMoot = judged.status === "ok" || one.joined !== undefined;
  return found.length > 0 && isMoot ? found : [found, judged];
});

export const hasOnlyItself = (program: string) =>
  `runs ${program}, and this registrar's image has no other program`;

/** The image policy leaves such a container alone; another way of a swap makes one that does not start. */
/** Where kubernetes-csi publishes its builds: from a base image without a shell. */
const KUBERNETES_CSI = /(?:^|\/)(?:(?:registry\.k8s\.io|k8s\.gcr\.io)\/sig-storage|quay\.io\/k8scsi)\//;

export const hasNothingElse = ({ program, image, mounts }: RegistrarContainer, started: string): boolean =>
  program.kind === "official" &&
  KUBERNETES_CSI.test(image) &&
  (!started.includes("/") || mountOf(started, mounts) === undefined);

function judgeForeign({ program, foreign }: RegistrarContainer): readonly Statement[] {
  if (program.kind !== "ours" || !program.isSwapped) return [];
  return foreign.programs
    .filter(({ what }) => !what.endsWith("Probe"))
    .map((one) =>
      problem(
        `has a ${one.what} that ${hasOnlyItself(one.program)}`,
        "start /csi-node-driver-registrar itself, or keep the official image there",
      ),
    );
}

function judgeJoined({ joined }: RegistrarContainer): Statement | undefined {
  if (joined === undefined) return undefined;
  const text = `has several arguments in one item: ${boundText(joined.trim())}`;
  return problem(text, "write each as an item of its own");
}

/** The official registrar dials the path as it is written, and ends when no driver answers or kubelet refuses the path. */
function judgePatterns({ program, unseen, settings }: RegistrarContainer): Statement | undefined {
  const pattern = [settings.csiAddress, settings.kubeletRegistrationPath].find(isPattern);
  if (program.kind !== "official" || unseen !== undefined || pattern === undefined) return undefined;
  const text = `restarts forever: the official registrar takes * literally: ${pattern}`;
  return problem(text, "write the paths of one driver, or use this registrar's image");
}

export const defineFirst = (variable: string) => `define ${variable} in its env, before what uses it`;

function judgeStart({
  program,
  image,
  unseen,
  settings,
  literals,
  mayKnowNodeName,
}: RegistrarContainer): Statement {
  const { refusal, doubtful, ignored, kubeletRegistrationPath: told } = settings;
  if (program.kind === "unknown" && KUBERNETES_CSI.test(image) && isOtherSidecar(lastPart(image)))
    return problem(
      `has the image of another sidecar, ${lastPart(image)}, which does not know --kubelet-registration-path`,
      "use the image of a registrar",
    );
  if (unseen !== undefined) return unknown(unseen.why, unseen.advice);
  if (program.kind === "unknown")
    return unknown(`runs an unknown program: ${program.why}`, "if it is this registrar's, use --image");
  if (refusal !== undefined) {
    const literal = literals.find((name) => refusal.problem.includes(`$(${name})`));
    const advice = literal === undefined ? refusal.advice : defineFirst(literal);
    return problem(`does not start: ${refusal.problem}`, advice);
  }
  if (doubtful !== undefined) return unknown(doubtful.why, doubtful.advice);
  if (ignored !== undefined) {
    const text = `stops parsing at "${ignored.words[0]}"; ignored: ${ignored.words.join(" ")}`;
    return told === "" ? problem(text, ignored.advice) : warning(text, ignored.advice);
  }
  if (told === "")
    return problem(
      "does not start: kubelet-registration-path is a required parameter",
      "add --kubelet-registration-path: the driver's socket as the host has it",
    );
  return settings.needsNodeName && !mayKnowNodeName
    ? problem(
        "does not start: --remove-startup-taint and --node-condition need the node's name",
        "add to its env: {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}",
      )
    : ok("has arguments with which the registrar starts");
}
