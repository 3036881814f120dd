import { isTemplate, list, type Tree, text, tree } from "../rules/objects";
import type { NodeRequirement, NodeRules } from "./deployment";

/** The nodes that a pod is for, by its selector and its required affinity. */
export function nodeRulesOf(pod: Tree): NodeRules {
  const selected = Object.entries(tree(pod.nodeSelector)).map(([key, value]) => ({
    key,
    operator: "In",
    values: [text(value)],
  }));
  const { requiredDuringSchedulingIgnoredDuringExecution: required } = tree(tree(pod.affinity).nodeAffinity);
  const terms = list(tree(required).nodeSelectorTerms).map((term) =>
    list(tree(term).matchExpressions)
      .map(tree)
      .map(({ key, operator, values }) => ({
        key: text(key),
        operator: text(operator),
        values: list(values).map(text),
      })),
  );
  return terms.length === 0 ? [selected] : terms.map((term) => [...selected, ...term]);
}

/** Whether certainly no node fits both. */
export function excludeEachOther(one: NodeRules, other: NodeRules): boolean {
  return one.every((choice) =>
    other.every((otherChoice) =>
      choice.some((first) =>
        otherChoice.some((second) => contradicts(first, second) || contradicts(second, first)),
      ),
    ),
  );
}

function contradicts(one: NodeRequirement, other: NodeRequirement): boolean {
  if (one.key !== other.key || [...one.values, ...other.values, one.key].some(isTemplate)) return false;
  if (one.operator === "Exists") return other.operator === "DoesNotExist";
  if (one.operator !== "In") return false;
  switch (other.operator) {
    case "In":
      return !one.values.some((value) => other.values.includes(value));
    case "NotIn":
      return one.values.every((value) => other.values.includes(value));
    default:
      return other.operator === "DoesNotExist";
  }
}

/** Of deployments that must not be on one node: those that may be. */
export function mayMeet<Item extends { readonly nodes: NodeRules }>(items: readonly Item[]): readonly Item[] {
  return items.filter((one) =>
    items.some((other) => other !== one && !excludeEachOther(one.nodes, other.nodes)),
  );
}
