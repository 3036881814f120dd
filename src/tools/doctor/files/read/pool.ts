import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { requiredNodeTerms } from "../../../recognise/nodes";
import { isTemplate } from "../../../recognise/rule";
import { sortedBy } from "../../findings/grouped";
import { tell, toldOf } from "../../findings/opened";
import { type Truth, truth } from "../../findings/seen";
import { unread } from "./filled";

type Requirement = ReturnType<typeof requirementOf>;
const requirementOf = (key: string, operator: string, values: readonly string[]) => ({
  ...{ key, operator, values },
  /** Equal requirements have equal ones. */
  whole: JSON.stringify([key, operator, values]),
  open: [operator, ...values].find(isTemplate),
});

/** On which nodes a pod may run. Pairs of pools are compared: each makes its texts once. */
export type Pool = ReturnType<typeof poolOf>;
export const poolOf = (pod: Tree) => {
  const { podAffinity, podAntiAffinity } = tree(pod.affinity);
  const ofTerms = requiredNodeTerms(pod).map(({ matchExpressions, matchFields }) =>
    [...list(matchExpressions), ...list(matchFields)]
      .map(tree)
      .map((one) => requirementOf(text(one.key), text(one.operator), list(one.values).map(text).sort())),
  );
  const selected = Object.entries(tree(pod.nodeSelector)).map(([key, value]) =>
    requirementOf(key, "In", [text(value)]),
  );
  const terms = inOrder<readonly Requirement[]>(ofTerms.map(inOrder));
  const pods = JSON.stringify([tree(podAffinity), tree(podAntiAffinity)], unlessPreferred);
  // Indented, because braces beside each other are a placeholder's.
  const whole = JSON.stringify([selected, terms, pods], undefined, 1);
  return toldOf({
    /** A node has to meet all of one of these. */
    terms: (terms.length === 0 ? [[]] : terms).map((term) => [...selected, ...term]),
    required: JSON.stringify([terms, pods]),
    /** Other pods decide on the node of one that requires or excludes some. */
    ...{ whole, isOpen: isTemplate(whole) || pods !== "[{},{}]" },
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
  if (one.key !== other.key || one.whole === other.whole) return truth(false);
  const open = one.open ?? other.open;
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
  return one.terms
    .flatMap((term) =>
      other.terms.map((its) =>
        term
          .flatMap((requirement) => its.map((another) => exclude(requirement, another)))
          .reduce<Truth>((some, is) => some.or(is), truth(false)),
      ),
    )
    .reduce<Truth>((all, is) => all.and(is), truth(true))
    .or(truth(one.required !== other.required && unread("placeholder", "", AFFINITY).gap));
}
/** The subject of a gap: what two pods require of their nodes. */
export const AFFINITY = "affinity";

/** Whether a node has the pods of both: if they require the same. Of others it is no, or unknown. */
export function areTogether(...pools: readonly [Pool, Pool]): Truth {
  const [one, other] = [tell(pools[0]), tell(pools[1])];
  if (one.whole === other.whole) return truth(!one.isOpen || unread("placeholder", one.whole).gap);
  const apart = areApart(...pools);
  return apart.and(apart.not());
}
