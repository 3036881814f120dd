import { type Tree, text, tree } from "../../../../kube-api/objects";
import { isTemplate } from "../../../recognise/rule";
import { tell, toldOf } from "../../findings/opened";
import { type Truth, truth } from "../../findings/seen";
import { unread } from "./filled";

/** On which nodes a pod may run. */
export type Pool = ReturnType<typeof poolOf>;
export const poolOf = ({ nodeSelector, affinity }: Tree) =>
  toldOf({
    selectors: Object.entries(tree(nodeSelector)).map(([key, value]) => [key, text(value)] as const),
    // Indented, because braces beside each other are a placeholder's.
    affinity: JSON.stringify(tree(affinity), undefined, 1),
  });

/** What the first placeholder in these decides is unknown. */
const unlessOpen = (texts: readonly string[]): Truth => {
  const open = texts.find(isTemplate);
  return truth(open === undefined || unread("placeholder", open).gap);
};

/** Whether no node may have the pods of both, as far as their node selectors and affinities tell. */
export function areApart(...pools: readonly [Pool, Pool]): Truth {
  const [one, other] = [tell(pools[0]), tell(pools[1])];
  const selectors = one.selectors.flatMap(([key, value]) =>
    other.selectors.flatMap((its) => (its[0] === key ? [[value, its[1]]] : [])),
  );
  return [...selectors, [one.affinity, other.affinity]]
    .filter(([its, another]) => its !== another)
    .reduce<Truth>((all, texts) => all.or(unlessOpen(texts)), truth(false));
}

/** Whether a node has the pods of both: alike texts tell it. Of others it is no, or unknown. */
export function areTogether(...pools: readonly [Pool, Pool]): Truth {
  const [one, other] = [tell(pools[0]), tell(pools[1])];
  const apart = areApart(...pools);
  if (JSON.stringify(one) !== JSON.stringify(other)) return apart.and(apart.not());
  return unlessOpen([...one.selectors.flat(), one.affinity]);
}
