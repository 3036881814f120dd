import { list, type Tree, text, tree } from "../../kube-api/objects";
import { ask, type Decided, holds, isTemplate, literal, type Rule, someText } from "./rule";

// For which nodes a pod is: Windows, and the processor's architecture.

const OS_LABELS = ["kubernetes.io/os", "beta.kubernetes.io/os"];
/** Labels whose value begins with `windows` on Windows nodes; GKE's is `windows_ltsc`, for one. */
const WINDOWS_LABELS = [...OS_LABELS, "cloud.google.com/gke-os-distribution"];
/** The label of every Windows node, and of no other. */
const WINDOWS_BUILD = "node.kubernetes.io/windows-build";
const ARCHITECTURE_LABELS = ["kubernetes.io/arch", "beta.kubernetes.io/arch"];

const oneOf = (words: readonly string[]) => `^(${words.map(literal).join("|")})$`;
const TERMS = [
  ...["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"],
] as const;

/** What a node selector's requirement has as key and operator. */
const requires = (keys: readonly string[], operators: readonly string[], ...more: readonly Rule[]): Rule => ({
  all: [
    { at: ["key"], matches: oneOf(keys), absent: false },
    { at: ["operator"], matches: oneOf(operators), absent: false },
    ...more,
  ],
});
const requiresWindows: Rule = {
  any: [
    requires([WINDOWS_BUILD], ["In", "Exists"]),
    requires(OS_LABELS, ["NotIn"], someText(["values"], "^linux$")),
    requires(WINDOWS_LABELS, ["In"], someText(["values"], "^windows"), {
      not: { some: ["values"], is: { not: { at: [], matches: "^windows", absent: false } } },
    }),
  ],
};

/** About a pod's spec: each of its terms has a requirement that only Windows nodes meet, or it says so otherwise. */
export const IS_POD_FOR_WINDOWS: Rule = {
  any: [
    { at: ["os", "name"], matches: "^windows$", absent: false },
    { has: ["securityContext", "windowsOptions"] },
    { entry: ["nodeSelector"], key: oneOf([WINDOWS_BUILD]), value: "" },
    { entry: ["nodeSelector"], key: oneOf(WINDOWS_LABELS), value: "^windows" },
    {
      all: [
        { some: TERMS, is: { some: ["matchExpressions"], is: requiresWindows } },
        { not: { some: TERMS, is: { not: { some: ["matchExpressions"], is: requiresWindows } } } },
      ],
    },
  ],
};

/** `C:\csi`, `--csi-address=unix://C:\csi\csi.sock`, `livenessprobe.exe`. */
const OF_WINDOWS = `(^|=)(unix:/*)?[A-Za-z]:[\\\\/]|[.][eE][xX][eE](["' ]|$)`;

/**
 * About a container: its own paths and settings. The DaemonSet controller replaces a pod's node affinity by the node's name, so
 * that a pod for Windows may show only there.
 */
export const IS_CONTAINER_FOR_WINDOWS: Rule = {
  any: [
    { has: ["securityContext", "windowsOptions"] },
    { at: ["image"], matches: "-win-registrar(:[^/@]+)?(@[^/]+)?$", absent: false },
    someText(["command"], OF_WINDOWS),
    someText(["args"], OF_WINDOWS),
    someText(["env"], OF_WINDOWS, ["value"]),
    someText(["volumeMounts"], OF_WINDOWS, ["mountPath"]),
  ],
};

/** Whether a container is for Windows nodes. */
export function isForWindows(pod: Tree, container: Tree): Decided {
  if (text(tree(pod.os).name) === "linux") return false;
  return holds(IS_CONTAINER_FOR_WINDOWS, container) || ask(IS_POD_FOR_WINDOWS, pod);
}

export function requiredNodeTerms({ affinity }: Tree): readonly Tree[] {
  const required = tree(tree(affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution;
  return list(tree(required).nodeSelectorTerms).map(tree);
}

/** For these the build that README shows makes an image. */
const OUR_ARCHITECTURES = ["amd64", "arm64"];
/** The others of Linux that Kubernetes has nodes of: what a label that is not filled in may ask for. */
const OTHER_ARCHITECTURES = ["386", "arm", "loong64", "mips64le", "ppc64le", "riscv64", "s390x"];

/** Architectures that the pod's node selector and affinity name, and for which there is no image of ours. */
export function foreignArchitecturesOf(pod: Tree): readonly string[] {
  const selected = Object.entries(tree(pod.nodeSelector)).map(([key, value]) => ({
    ...{ key, operator: "In", values: [value] },
  }));
  const required = requiredNodeTerms(pod).flatMap((term) => list(term.matchExpressions).map(tree));
  const found = [...selected, ...required].flatMap(({ key, operator, values }) => {
    const names = list(values)
      .map(text)
      .filter((name) => !OUR_ARCHITECTURES.includes(name));
    const open = [key, operator].map(text).filter(isTemplate);
    const label = text(key);
    const isOther = isTemplate(label) && names.some((name) => OTHER_ARCHITECTURES.includes(name));
    if (names.length === 0 || (!isOther && !ARCHITECTURE_LABELS.includes(label))) return [];
    if (open.length > 0) return [...open, ...names].join(" ");
    return operator === "In" ? names : [];
  });
  return [...new Set(found)];
}
