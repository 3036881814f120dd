import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { OS_LABELS, WINDOWS_BUILD, WINDOWS_LABELS } from "../../../manifest/image-policy/recognise";
import { isWindowsImage } from "../../../program";

export function podIn(object: Tree): Tree {
  const spec = tree(object.spec);
  return object.kind === "Pod" ? spec : tree(tree(spec.template).spec);
}

/** The nodes on which a pod may run: alternatives, of which a node fits if it meets every requirement of one. */
function nodeRulesOf(pod: Tree) {
  const selected = Object.entries(tree(pod.nodeSelector)).map(([key, value]) =>
    requirementOf({ key, operator: "In", values: [value] }),
  );
  const terms = requiredNodeTerms(pod).map(({ matchExpressions }) =>
    list(matchExpressions).map((one) => requirementOf(tree(one))),
  );
  return terms.length === 0 ? [selected] : terms.map((term) => [...selected, ...term]);
}

/** `operator` is `In`, `NotIn`, `Exists`, ... (NodeSelectorOperator). */
const requirementOf = ({ key, operator, values }: Tree) => ({
  key: text(key),
  operator: text(operator),
  values: new Set(list(values).map(text)),
});

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

/** Each alternative requires a label of Windows, or excludes that of Linux. */
function requiresWindows(pod: Tree): boolean {
  return nodeRulesOf(pod).every((term) =>
    term.some(
      ({ key, operator, values }) =>
        (key === WINDOWS_BUILD && ["In", "Exists"].includes(operator)) ||
        (operator === "In" &&
          WINDOWS_LABELS.includes(key) &&
          values.size > 0 &&
          [...values].every((value) => value.startsWith("windows"))) ||
        (operator === "NotIn" && OS_LABELS.includes(key) && values.has("linux")),
    ),
  );
}
