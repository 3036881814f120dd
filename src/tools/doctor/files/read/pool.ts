import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { requiredNodeTerms } from "../../../recognise/nodes";
import { isTemplate } from "../../../recognise/rule";
import { sortedBy } from "../../findings/grouped";
import { tell, toldOf } from "../../findings/opened";
import { type Truth, truth } from "../../findings/seen";
import { unread } from "./filled";

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** On which nodes a pod may run. */
export type Pool = ReturnType<typeof poolOf>;
export const poolOf = (pod: Tree) => {
  const { podAffinity, podAntiAffinity } = tree(pod.affinity);
  const terms = requiredNodeTerms(pod).map(({ matchExpressions, matchFields }) =>
    [...list(matchExpressions), ...list(matchFields)].map(tree).map((one) => ({
      ...{ key: text(one.key), operator: text(one.operator), values: list(one.values).map(text).sort() },
    })),
  );
  return toldOf({
    selected: Object.entries(tree(pod.nodeSelector)).map(
      ([key, value]): Requirement => ({ key, operator: "In", values: [text(value)] }),
    ),
    terms: inOrder<readonly Requirement[]>(terms.map(inOrder)),
    pods: JSON.stringify([tree(podAffinity), tree(podAntiAffinity)], unlessPreferred),
  });
};
const inOrder = <One>(all: readonly One[]) => sortedBy(all, (one) => JSON.stringify(one));
/** What is preferred, or says nothing, keeps no pod from a node. */
const unlessPreferred = (key: string, value: unknown) =>
  key.startsWith("preferred") || (Array.isArray(value) && value.length === 0) ? undefined : value;

/** Whether a node with this value of the label may be meant. */
const mayBe = ({ operator, values }: Requirement, value: string) =>
  operator === "In" || operator === "NotIn"
    ? values.includes(value) === (operator === "In")
    : operator !== "DoesNotExist";

/** Whether no node meets both. */
function exclude(one: Requirement, other: Requirement): Truth {
  if (one.key !== other.key || JSON.stringify(one) === JSON.stringify(other)) return truth(false);
  const open = [one, other].flatMap(({ operator, values }) => [operator, ...values]).find(isTemplate);
  if (open !== undefined) return truth(unread("placeholder", open).gap);
  const both = [one, other].map(({ operator }) => operator);
  const isNone = (its: Requirement, another: Requirement) =>
    its.operator === "In" && !its.values.some((value) => mayBe(another, value));
  const isAbsent = both.includes("DoesNotExist") && both.some((its) => ["Exists", "Gt", "Lt"].includes(its));
  return truth(isAbsent || isNone(one, other) || isNone(other, one));
}

/** Whether no node may have the pods of both: unknown where what they require differs, and does not exclude each other for certain. */
export function areApart(...pools: readonly [Pool, Pool]): Truth {
  const [one, other] = [tell(pools[0]), tell(pools[1])];
  const termsOf = ({ selected, terms }: typeof one) =>
    (terms.length === 0 ? [[]] : terms).map((term) => [...selected, ...term]);
  const required = ({ terms, pods }: typeof one) => JSON.stringify([terms, pods]);
  return termsOf(one)
    .flatMap((term) =>
      termsOf(other).map((its) =>
        term
          .flatMap((requirement) => its.map((another) => exclude(requirement, another)))
          .reduce<Truth>((some, is) => some.or(is), truth(false)),
      ),
    )
    .reduce<Truth>((all, is) => all.and(is), truth(true))
    .or(truth(required(one) !== required(other) && unread("placeholder", "", AFFINITY).gap));
}
/** The subject of a gap: what two pods require of their nodes. */
export const AFFINITY = "affinity";

/** Whether a node has the pods of both: if they require the same. Of others it is no, or unknown. */
export function areTogether(...pools: readonly [Pool, Pool]): Truth {
  const apart = areApart(...pools);
  // Indented, because braces beside each other are a placeholder's.
  const [one, other] = pools.map((pool) => JSON.stringify(tell(pool), undefined, 1));
  if (one !== other) return apart.and(apart.not());
  return truth(!isTemplate(one ?? "") || unread("placeholder", one ?? "").gap);
}
