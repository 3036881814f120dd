import { list, type Tree, text, tree } from "../../../kube-api/objects";
import { type NodeRules, nodeRulesOf } from "./node-rules";
import { isWindowsImage } from "./program";

const OS_LABELS = ["kubernetes.io/os", "beta.kubernetes.io/os"];
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
    requiresWindows(nodeRulesOf(pod)) ||
    securities.some(({ windowsOptions }) => windowsOptions !== undefined) ||
    isWindowsImage(image) ||
    words.some((word) => OF_WINDOWS.test(word))
  );
}

/** Each alternative requires the label of Windows, or excludes that of Linux. */
function requiresWindows(nodes: NodeRules): boolean {
  return nodes.every((term) =>
    term.some(
      ({ key, operator, values }) =>
        OS_LABELS.includes(key) &&
        ((operator === "In" && values.length > 0 && values.every((value) => value === "windows")) ||
          (operator === "NotIn" && values.includes("linux"))),
    ),
  );
}
