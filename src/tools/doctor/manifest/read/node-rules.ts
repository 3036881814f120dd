import { invalidOption } from "../../../../base/errors";
import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { isTemplate } from "../../findings/words";

type NodeRequirement = ReturnType<typeof requirementOf>;

/** Alternatives: a node fits if it meets every requirement of one of them. */
export type NodeRules = readonly (readonly NodeRequirement[])[];

/** The nodes on which a pod may run, by its node selector and its required affinity. */
export function nodeRulesOf(pod: Tree): NodeRules {
  const selected = Object.entries(tree(pod.nodeSelector)).map(([key, value]) =>
    requirementOf({ key, operator: "In", values: [value] }),
  );
  const terms = requiredNodeTerms(pod).map(({ matchExpressions }) =>
    list(matchExpressions).map((one) => requirementOf(tree(one))),
  );
  return terms.length === 0 ? [selected] : terms.map((term) => [...selected, ...term]);
}

function requirementOf({ key, operator, values }: Tree) {
  const words = list(values).map(text);
  const set = new Set(words);
  return {
    key: text(key),
    /** `In`, `NotIn`, `Exists`, ... (NodeSelectorOperator). */
    operator: text(operator),
    values: words,
    has: (value: string) => set.has(value),
    /** An installer will fill in its key or a value. */
    isOpen: [text(key), ...words].some(isTemplate),
  };
}

export function requiredNodeTerms({ affinity }: Tree): readonly Tree[] {
  const required = tree(tree(affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution;
  return list(tree(required).nodeSelectorTerms).map(tree);
}

/** No author of DaemonSets writes rules that take so many comparisons: a second of them. */
const MAX_COMPARISONS = 15_000_000;

/** Whether a node can have pods with both rules. */
export type MayMeet = (ones: NodeRules, others: NodeRules) => boolean;

/** Compares until it has compared too much in all: then it throws INVALID_OPTION. */
export function createMayMeet(): MayMeet {
  let left = MAX_COMPARISONS;
  const contradicts = (one: NodeRequirement, other: NodeRequirement): boolean => {
    left--;
    if (left < 0) throw invalidOption("their node selectors and affinities are too long");
    if (one.key !== other.key || one.isOpen || other.isOpen) return false;
    const isIn = one.operator === "In";
    if (isIn && other.operator === "In") {
      const [few, many] = one.values.length < other.values.length ? [one, other] : [other, one];
      left -= few.values.length;
      return !few.values.some(many.has);
    }
    if (isIn && other.operator === "NotIn") {
      left -= one.values.length;
      return one.values.every(other.has);
    }
    return other.operator === "DoesNotExist" && (isIn || one.operator === "Exists");
  };
  const exclude = (one: NodeRules[number], other: NodeRules[number]) =>
    one.some((first) => other.some((second) => contradicts(first, second) || contradicts(second, first)));
  // No node fits both if each pair of alternatives has a contradiction.
  return (ones, others) => !ones.every((one) => others.every((other) => exclude(one, other)));
}
