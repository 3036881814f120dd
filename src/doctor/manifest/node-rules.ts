import { list, type Tree, text, tree } from "../../kube-api/objects";
import { isTemplate } from "../rules/words";

/** A requirement on a label of a node. */
interface NodeRequirement {
  readonly key: string;
  /** `In`, `NotIn`, `Exists`, ... (NodeSelectorOperator). */
  readonly operator: string;
  readonly values: readonly string[];
}

/** Alternatives: a node fits if it meets every requirement of one of them. */
export type NodeRules = readonly (readonly NodeRequirement[])[];

/** The nodes on which a pod may run, by its node selector and its required affinity. */
export function nodeRulesOf(pod: Tree): NodeRules {
  const selected = Object.entries(tree(pod.nodeSelector)).map(([key, value]) => ({
    key,
    operator: "In",
    values: [text(value)],
  }));
  const terms = requiredNodeTerms(pod).map(({ matchExpressions }) =>
    list(matchExpressions)
      .map(tree)
      .map(({ key, operator, values }) => ({
        key: text(key),
        operator: text(operator),
        values: list(values).map(text),
      })),
  );
  return terms.length === 0 ? [selected] : terms.map((term) => [...selected, ...term]);
}

/** The terms of a pod's required node affinity. */
export function requiredNodeTerms({ affinity }: Tree): readonly Tree[] {
  const required = tree(tree(affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution;
  return list(tree(required).nodeSelectorTerms).map(tree);
}

/** Whether a node can have pods with both rules. */
export function mayMeet(ones: NodeRules, others: NodeRules): boolean {
  return !excludeEachOther(ones, others);
}

/** No node can fit both: each pair of alternatives has a contradiction. */
function excludeEachOther(ones: NodeRules, others: NodeRules): boolean {
  const contradict = (one: NodeRules[number], other: NodeRules[number]) =>
    one.some((first) => other.some((second) => contradicts(first, second) || contradicts(second, first)));
  return ones.every((one) => others.every((other) => contradict(one, other)));
}

function contradicts(one: NodeRequirement, other: NodeRequirement): boolean {
  if (one.key !== other.key || [...one.values, ...other.values, one.key].some(isTemplate)) return false;
  switch (`${one.operator} ${other.operator}`) {
    case "In In":
      return !one.values.some((value) => other.values.includes(value));
    case "In NotIn":
      return one.values.every((value) => other.values.includes(value));
    case "In DoesNotExist":
    case "Exists DoesNotExist":
      return true;
    default:
      return false;
  }
}
