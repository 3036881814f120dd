import { insideOf } from "../../../../src/tools/doctor/findings/opened";

/** Facts that are functions, by their names: the arguments of each call. */
export type Calls = Readonly<Record<string, readonly (readonly unknown[])[]>>;

/**
 * What facts of which less is known say, and the same facts of which more is known do not. Where less is known a list, an answer or
 * a value may be unread; none may be another one. `asWritten`: fields that are no facts. With `calls` functions are facts, too.
 */
export function otherFactsIn(
  less: unknown,
  more: unknown,
  { asWritten = [], calls = {} }: { asWritten?: readonly string[]; calls?: Calls } = {},
): readonly string[] {
  const known = new WeakMap<object, WeakMap<object, boolean>>();
  /** Whether nothing is said in this part that the other one does not say; parts are shared by many lists. */
  const isPart = (one: unknown, other: unknown, place = ""): boolean => {
    // A function is asked by its name, and may have several.
    const isNamed = typeof one === "function" && insideOf(one) === undefined;
    if (!isShared(one) || !isShared(other) || isNamed) return partsIn(one, other, place, true).length === 0;
    const of = known.get(one) ?? new WeakMap<object, boolean>();
    known.set(one, of);
    const before = of.get(other);
    if (before !== undefined) return before;
    const isSo = partsIn(one, other, place, true).length === 0;
    of.set(other, isSo);
    return isSo;
  };
  /** `isAsked`: whether there is anything; else what it is. */
  const partsIn = (one: unknown, other: unknown, at: string, isAsked = false): readonly string[] => {
    const compare = (own: unknown, its: unknown, place: string) =>
      isAsked ? (isPart(own, its, place) ? [] : [place]) : partsIn(own, its, place);
    if (Object.is(one, other) || isUnread(one)) return [];
    const differs = () => [isAsked ? at : `${at}: ${show(one)}, and it is ${show(other)}`];
    const [own, its] = [insideOf(one), insideOf(other)] as (object | string | undefined)[];
    if (own !== undefined && its !== undefined) return closedIn(own, its, at, compare);
    if (typeof one === "function" && typeof other === "function")
      return firstOrAll(isAsked, calls[at.split(/\W+/).at(-1) ?? ""] ?? [], (given) =>
        compare(one(...given), other(...given), `${at}(${given.map(show)})`),
      );
    if (!isShared(one) || !isShared(other) || typeof one !== typeof other) return differs();
    if (one instanceof Map && other instanceof Map)
      return compare(Object.fromEntries(one), Object.fromEntries(other), at);
    if (one instanceof Set && other instanceof Set) return compare([...one].sort(), [...other].sort(), at);
    const isList = Array.isArray(one);
    if (isList && Object(other).length !== one.length) return differs();
    const fields = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    return firstOrAll(
      isAsked,
      fields.filter((field) => !asWritten.includes(field)),
      (field) => compare(fieldOf(one, field), fieldOf(other, field), isList ? `${at}{}` : `${at}.${field}`),
    );
  };
  const closedIn = (own: object | string, its: object | string, at: string, compare: Compare) => {
    const differs = (as: string) => [`${at}: ${show(own)}, and it is ${as}`];
    if (typeof own === "string") return own === its ? [] : differs(show(its));
    // Of a text only what it names is a fact.
    if ("key" in own) return gapsIn(own).length > 0 ? [] : compare(own.key, fieldOf(its, "key"), `${at}#`);
    if ("told" in own) return [];
    if ("items" in own) return listsIn(own as Inside, its as Inside, at, compare);
    if (!Array.isArray(own) || own.every(isGap) || own.some(isUnread)) return [];
    return Array.isArray(its) && !its.some(isUnread) && !its.every(isGap)
      ? compare(own.at(-1), its.at(-1), `${at}()`)
      : differs("unknown");
  };
  const listsIn = (own: Inside, its: Inside, at: string, compare: Compare): readonly string[] => {
    const more = own.items
      .filter((one) => !its.items.some((other) => isPart(one, other)))
      .flatMap((one) =>
        nearest(
          its.items.map((other) => compare(one, other, `${at}[]`)),
          `${at}: ${show(one)}`,
        ),
      );
    if (own.gaps.length > 0 || more.length > 0) return more;
    if (its.gaps.length > 0) return [`${at}: lacks nothing, and it lacks some`];
    return its.items
      .filter((other) => !own.items.some((one) => isPart(one, other)))
      .map((other) => `${at}: without ${show(other)}`);
  };
  return [...new Set(partsIn(less, more, ""))];
}

type Compare = (own: unknown, its: unknown, at: string) => readonly string[];
interface Inside {
  readonly items: readonly unknown[];
  readonly gaps: readonly unknown[];
}
const nearest = (all: readonly (readonly string[])[], what: string) =>
  all.toSorted((one, other) => one.length - other.length)[0] ?? [`${what}, which is not there`];

function firstOrAll<Item>(isFirst: boolean, items: readonly Item[], of: (item: Item) => readonly string[]) {
  if (!isFirst) return items.flatMap(of);
  for (const item of items) {
    const own = of(item);
    if (own.length > 0) return own;
  }
  return [];
}
const isShared = (one: unknown): one is object =>
  (typeof one === "object" && one !== null) || typeof one === "function";
const fieldOf = (one: unknown, key: string): unknown => Object(one)[key];
const gapsIn = (inside: object) => ("gaps" in inside ? (inside.gaps as readonly unknown[]) : []);
const isUnread = (one: unknown) => fieldOf(one, "kind") === "unread";
const isGap = (one: unknown) => typeof fieldOf(one, "part") === "string" && fieldOf(one, "why") !== undefined;

const show = (value: unknown): string =>
  `${JSON.stringify(insideOf(value) ?? value, (_key, one) => insideOf(one) ?? one)}`.slice(0, 100);
