import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { OS_LABELS, WINDOWS_BUILD, WINDOWS_LABELS } from "../../../manifest/image-policy/recognise";
import { isWindowsImage } from "../../../program";

export function podIn(object: Tree): Tree {
  const spec = tree(object.spec);
  return object.kind === "Pod" ? spec : tree(tree(spec.template).spec);
}

export function requiredNodeTerms({ affinity }: Tree): readonly Tree[] {
  const required = tree(tree(affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution;
  return list(tree(required).nodeSelectorTerms).map(tree);
}

/** `C:\csi`, `--csi-address=unix://C:\csi\csi.sock`, `livenessprobe.exe`. */
const OF_WINDOWS = /(?:^|=)(?:unix:\/*)?[a-z]:[\\/]|\.exe(?:["'\s]|$)/i;

/** Whether a container is for Windows nodes: by its pod, its image, its words or its paths. */
export function isForWindows(pod: Tree, container: Tree): boolean {
  const os = text(tree(pod.os).name);
  if (os !== "") return os === "windows";
  const { command, args, env, volumeMounts, image } = container;
  const words = [
    ...[...list(command), ...list(args)].map(text),
    ...list(env).map((one) => text(tree(one).value)),
    ...list(volumeMounts).map((one) => text(tree(one).mountPath)),
  ];
  const securities = [pod.securityContext, container.securityContext].map(tree);
  return (
    requiresWindows(pod) ||
    securities.some(({ windowsOptions }) => windowsOptions !== undefined) ||
    isWindowsImage(image) ||
    words.some((word) => OF_WINDOWS.test(word))
  );
}

/** Whether each alternative of the pod's node selector and affinity has a requirement that only Windows nodes meet. */
function requiresWindows(pod: Tree): boolean {
  const selected = Object.entries(tree(pod.nodeSelector)).map(([key, value]) => ({
    key,
    operator: "In",
    values: [value],
  }));
  const terms = requiredNodeTerms(pod).map(({ matchExpressions }) => list(matchExpressions).map(tree));
  return (terms.length === 0 ? [[]] : terms).every((term) => [...selected, ...term].some(isOfWindows));
}

/** `operator` is `In`, `NotIn`, `Exists`, ... (NodeSelectorOperator). */
function isOfWindows({ key, operator, values }: Tree): boolean {
  const [label, labels] = [text(key), list(values).map(text)];
  if (label === WINDOWS_BUILD && (operator === "In" || operator === "Exists")) return true;
  if (operator === "NotIn") return OS_LABELS.includes(label) && labels.includes("linux");
  const isNamed = labels.length > 0 && labels.every((value) => value.startsWith("windows"));
  return operator === "In" && WINDOWS_LABELS.includes(label) && isNamed;
}
