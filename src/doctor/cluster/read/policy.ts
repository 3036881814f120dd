import { attempt } from "../../../base/errors";
import { list, type Tree, text, textOrNone, timeOrNone, tree } from "../../../kube-api/objects";
import {
  POLICY_ANNOTATIONS,
  POLICY_LABEL,
  type PolicyEngine,
} from "../../../manifest/image-policy/image-policy";
import { imagePattern, NODES_VARIABLE, servedPattern } from "../../../manifest/image-policy/recognise";

interface Selection {
  readonly namespaces: Tree;
  readonly pods: Tree;
}

/** A policy that `registrar manifest --image-policy` wrote. */
export type ImagePolicy = NonNullable<ReturnType<ReturnType<typeof policyReader>>>;

const MAX_NAME_LENGTH = 128;

/** Of the API server's own policies, or of Kyverno's, which have the same spec and no bindings. */
export const policyReader = (engine: PolicyEngine) => (object: unknown) => readPolicy(object, engine);

/** Undefined for any other policy. */
function readPolicy(object: unknown, engine: PolicyEngine) {
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
    engine,
    name: text(name),
    changedMs: changedMsOf(tree(metadata)),
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
  const { metadata, spec } = tree(object);
  const { policyName, matchResources } = tree(spec);
  return {
    policy: text(policyName),
    changedMs: changedMsOf(tree(metadata)),
    selection: selectionOf(matchResources),
  };
}

function selectionOf(resources: unknown): Selection {
  const { namespaceSelector, objectSelector } = tree(resources);
  return { namespaces: tree(namespaceSelector), pods: tree(objectSelector) };
}

/** When an object was made, or written the last time, apart from its status. */
function changedMsOf({ creationTimestamp, managedFields }: Tree): number {
  const writes = list(managedFields).map(tree);
  const ofSpec = writes.filter(({ subresource }) => subresource !== "status");
  const times = [creationTimestamp, ...ofSpec.map(({ time }) => time)];
  return Math.max(0, ...times.flatMap((time) => timeOrNone(time) ?? []));
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
  return (
    Object.entries(tree(matchLabels)).every(([key, value]) => labels[key] === value) &&
    list(matchExpressions)
      .map(tree)
      .every(({ key, operator, values }) => {
        const value = labels[text(key)];
        const isIn = value !== undefined && list(values).includes(value);
        switch (operator) {
          case "In":
            return isIn;
          case "NotIn":
            return !isIn;
          case "Exists":
            return value !== undefined;
          case "DoesNotExist":
            return value === undefined;
          default:
            return false;
        }
      })
  );
}
