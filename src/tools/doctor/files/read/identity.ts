import { anyText, type Tree, text, tree } from "../../../../kube-api/objects";
import { isTemplate } from "../../../recognise/rule";
import { sortedBy } from "../../findings/grouped";
import { itemsOf, type Name, type Told, tell, toldOf, trueOrNull } from "../../findings/opened";
import { beyond, type SeenList, type Truth, truth } from "../../findings/seen";
import { unread } from "./filled";

/** What an object is to the API server. */
type Names = Readonly<Record<"group" | "kind" | "namespace" | "name", string>>;
type Two = readonly [Told<Names>, Told<Names>];

export function identityOf({ apiVersion, kind, metadata }: Tree): Told<Names> {
  const { namespace, name } = tree(metadata);
  const [group = ""] = /^.*(?=\/)/.exec(anyText(apiVersion)) ?? [];
  return toldOf({ group, kind: anyText(kind), namespace: text(namespace), name: text(name) });
}

/** In some order, whatever that of the documents is. */
export const comesBefore = (one: Name, other: Name) => tell<string>(one) < tell<string>(other);

/** A template may fill in each of its places otherwise. */
function isOneText(one: string, other: string): Truth {
  if (one === other && !one.includes("{{")) return truth(true);
  const open = [one, other].find(isTemplate);
  return truth(open !== undefined && unread("placeholder", open).gap);
}

/** Whether two objects are in one namespace: kubectl takes that of its context for one that is not written. */
export function isOneNamespace(...both: Two): Truth {
  const [one, other] = [tell(both[0]).namespace, tell(both[1]).namespace];
  const isUnwritten = one !== other && [one, other].includes("");
  return isUnwritten ? truth(unread("placeholder", "", "namespace").gap) : isOneText(one, other);
}

/** Whether two objects are one when they are applied. One without a name is never another one. */
export function isOneObject(...both: Two): Truth {
  const [one, other] = [tell(both[0]), tell(both[1])];
  return (["group", "kind", "name"] as const)
    .map((part) => isOneText(one[part], other[part]))
    .reduce((all, is) => all.and(is), isOneNamespace(...both))
    .and(one.name !== "" && other.name !== "");
}

interface Applied extends ReturnType<typeof appliedOf> {
  readonly place: Name;
}
/** A script, or an image that is not filled in, may be a registrar that is not among these. */
export const appliedOf = (object: Tree, registrars: readonly unknown[], containers: readonly Tree[]) => ({
  identity: identityOf(object),
  hasRegistrar: truth(registrars.length > 0 || (containers.length > 0 && beyond("files"))),
});

/**
 * Each object with a registrar, and all that are one with it when they are applied. Of those that may be one only the
 * first is there.
 */
export function copiesIn<Item extends Applied>(objects: SeenList<Item>) {
  /** Equal of all that may be one, unless it is a template. */
  const keyOf = ({ identity }: Item) => {
    const { group, kind, name } = tell(identity);
    return JSON.stringify([group, kind, name]);
  };
  const order = new Map(itemsOf(objects).map((one, at) => [one, at]));
  const alike = objects.by(keyOf);
  const open = objects.filter((one) => isTemplate(keyOf(one)));
  return objects.flatMap((one) => {
    const { place, identity } = one;
    const isFound = (its: Item) => trueOrNull(its.hasRegistrar) === true;
    if (!isFound(one)) return undefined;
    const isCopy = (other: Item) => isOneObject(identity, other.identity).or(other === one);
    const all = isTemplate(keyOf(one)) ? objects : alike(keyOf(one)).with(open);
    const numberOf = (its: Item) => order.get(its) ?? 0;
    const mayBeOne = (other: Item) => trueOrNull(isCopy(other)) !== false;
    const isTold = (other: Item) => numberOf(other) < numberOf(one) && isFound(other) && mayBeOne(other);
    if (itemsOf(all).some(isTold)) return undefined;
    const others = sortedBy(itemsOf(all).filter(mayBeOne), numberOf).filter((other) => other !== one);
    const isRepeated = others.map(isCopy).reduce((is, so) => is.or(so), truth(false));
    return { place, copies: all.filter(isCopy), isRepeated };
  });
}
