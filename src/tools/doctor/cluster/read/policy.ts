import { attempt } from "../../../../base/errors";
import { list, type Tree, text, textOrNone, tree } from "../../../../kube-api/objects";
import { POLICY_ANNOTATIONS, POLICY_LABEL } from "../../../manifest/image-policy/image-policy";
import { imagePattern, NODES_VARIABLE, servedPattern } from "../../../manifest/image-policy/recognise";

/** A policy that `registrar manifest --image-policy` wrote. */
export type ImagePolicy = NonNullable<ReturnType<typeof readPolicy>>;

const MAX_NAME_LENGTH = 128;

/** Undefined for any other policy. */
export function readPolicy(object: unknown) {
  const { metadata, spec } = tree(object);
  const { name, labels, annotations } = tree(metadata);
  const kind = (["swap", "drop"] as const).find((one) => one === tree(labels)[POLICY_LABEL]);
  if (kind === undefined) return undefined;
  const about = (fact: keyof typeof POLICY_ANNOTATIONS) =>
    textOrNone(tree(annotations)[POLICY_ANNOTATIONS[fact]]);
  const more = (about("matchImages")?.split(",") ?? []).filter(({ length }) => length <= MAX_NAME_LENGTH);
  const root = about("kubeletRoot");
  const nodes = list(tree(spec).variables)
    .map(tree)
    .find((variable) => variable.name === NODES_VARIABLE);
  return {
    kind,
    name: text(name),
    image: kind === "swap" ? about("image") : undefined,
    images: new RegExp(imagePattern(more)),
    /** The paths of sockets for which the node-wide registrar finds the driver; undefined: not known, or all. */
    served: root === undefined ? undefined : new RegExp(servedPattern(root)),
    selection: selectionOf(tree(spec).matchConstraints),
    /** The nodes that it is limited to; undefined: all. */
    nodes: nodes && new Set(list(attempt(() => JSON.parse(text(nodes.expression))))),
  };
}

export function readBinding(object: unknown) {
  const { policyName, matchResources } = tree(tree(object).spec);
  return { policy: text(policyName), selection: selectionOf(matchResources) };
}

function selectionOf(resources: unknown) {
  const { namespaceSelector, objectSelector } = tree(resources);
  return { namespaces: tree(namespaceSelector), pods: tree(objectSelector) };
}

/** The label of each namespace that has its name. */
export const NAME_LABEL = "kubernetes.io/metadata.name";

/** Whether a namespace's name alone tells if the selector selects it. */
export function isByName(selector: Tree): boolean {
  const { matchLabels, matchExpressions } = selector;
  const keys = [...Object.keys(tree(matchLabels)), ...list(matchExpressions).map((one) => tree(one).key)];
  return keys.every((key) => key === NAME_LABEL);
}

/** Whether a label selector selects an object with these labels. An empty one selects all. */
export function selects({ matchLabels, matchExpressions }: Tree, labels: Tree): boolean {
  const meets = ({ key, operator, values }: Tree): boolean => {
    const value = labels[text(key)];
    const isIn = value !== undefined && list(values).includes(value);
    if (operator === "In") return isIn;
    if (operator === "NotIn") return !isIn;
    if (operator === "Exists") return value !== undefined;
    return operator === "DoesNotExist" && value === undefined;
  };
  return (
    Object.entries(tree(matchLabels)).every(([key, value]) => labels[key] === value) &&
    list(matchExpressions).map(tree).every(meets)
  );
}
