import { nearWord } from "../../../base/near-word";
import { beyond, type Gap, type KnownField, lackedIn, type Unread } from "./gap";
import { grouped, sortedBy } from "./grouped";
import {
  type Closed,
  close,
  insideOf,
  itemsOf,
  type Key,
  keyIn,
  open,
  type Said,
  type Text,
  type Told,
  tell,
  textOf,
  toldOf,
  wordingOf,
} from "./opened";
import type {
  Apart,
  Arms,
  At,
  Doubted,
  Gaps,
  Group,
  Inside,
  ItemOf,
  KnownList,
  KnownSeen,
  KnownTruth,
  Mixed,
  OrWithheld,
  Seen,
  SeenList,
  Some,
  Spots,
  Truth,
  Unclear,
  Withheld,
  YesNo,
} from "./shapes";
import type { Verdict } from "./verdict";
import { counted, firstOf } from "./words";

export {
  beyond,
  type CallFailure,
  type Flaw,
  type Gap,
  refuseFlaw,
  type Unread,
  type Why,
  whyOf,
} from "./gap";
export { type Lacking, lacking, type Text, toldOf, words } from "./opened";
export type { Group, ItemOf, Seen, SeenList, Truth, Withheld } from "./shapes";

/** The same where the answer is no, and where it is unknown: then it is doubted. */
export const otherwise = <R>(say: () => R) => ({ no: say, unknown: () => doubted(say()) });

/** For an input that could not be read: a finding becomes unknown, and an `ok` is left out. */
export function doubted<R>(said: R): Doubted<R> {
  if (!isSaid(said)) return said as Doubted<R>;
  return changed(said as Said<Verdict>, (one) => {
    const { status, ...sentence } = Object(insideOf(one));
    if (status === undefined) return one;
    return status === "ok" ? undefined : close({}, { ...sentence, status: "unknown" });
  }) as Doubted<R>;
}

/** What nothing that was asked for decides is no finding. */
const unlessUnknown = <R>(said: R) =>
  isSaid(said)
    ? changed(said as Said<Verdict>, (one) => (Object(insideOf(one)).status === "unknown" ? undefined : one))
    : said;
const isSaid = (said: unknown) => {
  const inside = Array.isArray(said) ? { items: said } : Object(insideOf(said));
  return "status" in inside || "items" in inside;
};

/** A list that lacks what doctor did not look for, if that may exist: no finding reports it. */
export const unsoughtIf = (isSo: boolean, part: string, subject: string): SeenList<never> =>
  listOf<never>([], isSo ? [beyond(part, subject)] : []);

/** What is said only where the answer is unknown. */
export const ifUnknown = <U>(
  isSo: Truth,
  say: (gaps: Gaps) => U & Unclear<U, undefined>,
): U | undefined | Withheld =>
  isSo<undefined, undefined, never>({ yes: nothing, no: nothing, unknown: say as never } as never);

/** What is said, or is there, only if the answer is yes. */
export function ifYes<One>(isSo: KnownTruth, say: () => One): KnownList<One>;
export function ifYes<One>(isSo: Truth, say: () => One): SeenList<One>;
export function ifYes<One>(isSo: Truth, say: () => One): SeenList<One> {
  return isSo({ yes: () => listOf([say()], []), no: () => listOf<One>([], []), unknown: withheld });
}

export const truth = <One extends boolean | Gap>(answer: One) =>
  truthOf(typeof answer === "boolean" ? (answer ? "yes" : "no") : [answer]) as [One] extends [boolean]
    ? KnownTruth
    : Truth;

const truthOf = (answer: YesNo) => (answer === "yes" ? YES : answer === "no" ? NO : newTruth(answer));

function newTruth(answer: YesNo): Truth {
  const not = () => truthOf(answer === "yes" ? "no" : answer === "no" ? "yes" : answer);
  const or = (other: boolean | Truth) => truthOf(eitherOf(answer, answerOf(other)));
  const and = (other: boolean | Truth) =>
    not()
      .or(typeof other === "boolean" ? !other : other.not())
      .not();
  const ask = <Y, N, U>(arms: Arms<Y, N, U & Unclear<U, Y | N>>) => sayBy<Y, N, U>(answer, arms);
  const say = <Y, N, U>(arms: Arms<Y, N, U>) => listOf([sayBy(answer, arms)], []);
  return close(Object.assign(ask, { say, not, or, and }), answer) as unknown as Truth;
}

function sayBy<Y, N, U>(answer: YesNo, { yes, no, unknown }: Arms<Y, N, U>): OrWithheld<Y | N | U> {
  if (typeof answer === "string") return (answer === "yes" ? yes() : no()) as OrWithheld<Y | N | U>;
  const lacked = lackedIn(answer);
  // What was asked for leads: a text may name it.
  const said = unknown(union<Gap>([lacked, answer]) as readonly Gap[] as Gaps);
  return (lacked.length === 0 ? unlessUnknown(said) : said) as OrWithheld<Y | N | U>;
}

const [YES, NO] = [newTruth("yes"), newTruth("no")];

const answerOf = (asked: boolean | Truth): YesNo =>
  typeof asked === "boolean" ? (asked ? "yes" : "no") : open(asked);

function eitherOf(one: YesNo, other: YesNo): YesNo {
  if (one === "yes" || other === "yes") return "yes";
  if (one === "no") return other;
  return other === "no" ? one : (union<Gap>([one, other]) as readonly Gap[] as Gaps);
}

const gapsInKey = (key: string | Key) => (typeof key === "string" ? [] : open(key).gaps);
/** A key of several. */
export const keyFrom = (...parts: readonly (string | Key)[]): Key =>
  close({}, { key: JSON.stringify(parts.map(keyIn)), gaps: union(parts.map(gapsInKey)) });

const union = <One>(lists: readonly (readonly One[])[]): readonly One[] => [...new Set(lists.flat())];

function insideList<Item>(value: Some<Item> | SeenList<Item>): Inside<Item> {
  const inside = insideOf(value);
  if (inside && "items" in inside) return inside as Inside<Item>;
  const items = (value === undefined ? [] : Array.isArray(value) ? value : [value]) as readonly Item[];
  return { items, gaps: [] };
}

function listOf<Item>(items: readonly Item[], gaps: readonly Gap[]): SeenList<Item> {
  const flatMap = <R>(change: (item: Item) => Some<R> | SeenList<R>) => {
    const insides = items.map((item) => insideList(change(item)));
    return listOf(
      insides.flatMap((one) => one.items),
      union([gaps, ...insides.map((one) => one.gaps)]),
    );
  };
  const list: Omit<SeenList<Item>, keyof Closed<unknown>> = {
    some: ({ yes, ...arms }) =>
      sayBy<never, never, never>(answerOf(list.contains()), {
        ...arms,
        yes: () => yes(groupOf(items as [Item, ...Item[]], gaps)),
      } as unknown as Arms<never, never, never>),
    told: (other) => toldOf(tell(items.length > 0 ? items[0] : other) as never),
    contains: (isSo = () => true) => {
      const answers = items.map((item) => answerOf(isSo(item)));
      const unsure = union<Gap>([gaps, ...answers.filter((one) => typeof one !== "string")]);
      return truthOf(answers.includes("yes") ? "yes" : unsure.length > 0 ? (unsure as Gaps) : "no");
    },
    map: (change) =>
      listOf(
        items.map((item) => change(item)),
        gaps,
      ),
    flatMap,
    filter: (isSo) =>
      flatMap((item) => {
        const answer = answerOf(isSo(item));
        return typeof answer === "string" ? (answer === "yes" ? [item] : []) : listOf<Item>([], answer);
      }),
    with: (more: SeenList<unknown>) =>
      listOf([...items, ...itemsOf(more)], union([gaps, open(more).gaps])) as Mixed<never>,
    orElse: (other) => listOf(items.length + gaps.length > 0 ? items : [other()], gaps),
    grouped: (keyOf, at = placedAt({})) => {
      const gapsOf = (key: string) => gaps.filter((gap) => mayBeAt(at, key, gap));
      const unsure = union(items.map((item) => gapsInKey(keyOf(item))));
      const groups = Array.from(
        grouped(items, (item) => keyIn(keyOf(item))),
        ([key, own]) => groupOf(own, [...gapsOf(key), ...unsure]),
      );
      return listOf(groups, gaps);
    },
    together: () => list.grouped(() => ""),
    by: (keyOf) => byKey(items, keyOf, () => gaps),
    sorted: (keyOf) => listOf(sortedBy(items, keyOf), gaps),
  };
  return close(list, { items, gaps }) as SeenList<Item>;
}

export const placedAt = (spots: Spots): At => close({}, spots);
function mayBeAt(at: At, key: string, { known = {} }: Gap): boolean {
  return Object.entries(open(at)).every(([field, of]) => {
    const { items, gaps } = insideList(of(key));
    const value = known[field as KnownField];
    return value === undefined || items.length === 0 || gaps.length > 0 || items.includes(value);
  });
}

function groupOf<Item>(items: readonly [Item, ...Item[]], gaps: readonly Gap[]): Group<Item> {
  const each = (wordsOf: (item: Item) => Text) => union([items.map((item) => tell<string>(wordsOf(item)))]);
  return Object.assign(listOf(items, gaps), {
    first: items[0],
    others: listOf(items.slice(1), gaps),
    joined: (wordsOf: (item: Item) => Text, by = ", ") => {
      const own = wordingOf(...items.map((item) => wordsOf(item)));
      const told = each(wordsOf).join(by);
      return textOf({ told, gaps: union([gaps, own.gaps]), isSaid: own.isSaid ?? false });
    },
    named: (nameOf: (item: Item) => string, like?: string) => {
      const near = like === undefined ? undefined : nearWord(like, each(nameOf));
      const told = firstOf(union([near === undefined ? [] : [near], each(nameOf)]));
      return textOf({ told, gaps, isSaid: false });
    },
    counted: (one: string, sizeOf: (item: Item) => number | Told<number> = () => 1) => {
      const size = items.reduce((sum, item) => sum + tell<number>(sizeOf(item)), 0);
      const least = lackedIn(gaps).length > 0 ? "at least " : "";
      return textOf({ told: least + counted(size, one), gaps, isSaid: true });
    },
  });
}

/** `gapsOf`: what the list of a key may lack. */
function byKey<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  gapsOf: (key: string, isSeen: boolean) => readonly Gap[],
) {
  const groups = grouped(items, keyOf);
  return (key: string) => listOf<Item>(groups.get(key) ?? [], gapsOf(key, groups.has(key)));
}

/** The first item of these lists in their order; withheld where a list before has none, and lacks something. */
export const firstIn = <Lists extends readonly SeenList<unknown>[]>(...lists: Lists & Apart<Lists>) =>
  leadIn<ItemOf<Lists[number]>>(lists, ({ items, gaps }) => items.length > 0 || gaps.some(isNeeded));
/** The first that was seen: it holds whatever the lists before it lack. */
export const firstSeen = <Lists extends readonly SeenList<unknown>[]>(...lists: Lists) =>
  leadIn<ItemOf<Lists[number]>>(lists, ({ items }) => items.length > 0);
const isNeeded = ({ why }: Gap) => why.kind !== "aside";
function leadIn<Item>(lists: readonly SeenList<unknown>[], isLast: (inside: Inside<unknown>) => boolean) {
  const insides = lists.map(open) as readonly Inside<Item>[];
  const last = insides.findIndex(isLast);
  const asked = insides.slice(0, last === -1 ? insides.length : last + 1);
  return listOf(asked.at(-1)?.items.slice(0, 1) ?? [], union(asked.map(({ gaps }) => gaps)));
}

/** Nothing is said of what is unknown: another finding says what could not be read. */
export const withheld = (gaps: Gaps): Withheld => listOf<never>([], gaps);
/** What a list lacks, without what it has. */
export const lackingIn = (list: SeenList<unknown>): Withheld => listOf<never>([], open(list).gaps);
export const nothing = () => undefined;
/** The same list in an order, for readers, who know what the order means. */
export const inOrder = <Item>(list: SeenList<Item>, keyOf: (item: Item) => string | number) =>
  listOf(sortedBy(itemsOf(list), keyOf), open(list).gaps);
type Shown = Told<object> | { readonly row: Told<object> };
/** What a table shows even where it is not known whether it belongs there. */
export const kept = <Row extends Shown>(row: Row): SeenList<Row> => listOf<Row>([row], []);
/** The same, unless another row certainly shows it. */
export const unless = <Row extends Shown>(isShown: Truth, row: Row): SeenList<Row> =>
  listOf<Row>(open(isShown) === "yes" ? [] : [row], []);
const gapsAt = (list: SeenList<unknown>, field: KnownField, key: string) =>
  open(list).gaps.filter(({ known }) => [undefined, key].includes(known?.[field]));
export type Reading<Part extends string> = ReturnType<typeof startReading<Part>>;

/** The only maker of things with gaps: the report has what a reader leaves out. */
export function startReading<Part extends string>() {
  const all = new Set<Gap<Part>>();
  const noted = (gap: Gap<Part>) => {
    all.add(gap);
    return gap;
  };
  return {
    gaps: (): readonly Gap<Part>[] => [...all],
    /** Looks up items by a key, which gaps know by this field. With `isSole` no two items have one key: a list that has one lacks nothing. */
    byKnown: <Item>(list: SeenList<Item>, keyOf: (item: Item) => string, field: KnownField, isSole = false) =>
      byKey(itemsOf(list), keyOf, (key, isSeen) => (isSole && isSeen ? [] : gapsAt(list, field, key))),
    list: <Item>(items: readonly Item[], gaps: readonly Gap<Part>[] = []): SeenList<Item> =>
      listOf(items, gaps.map(noted)),
    unread: (gap: Gap<Part>): Unread<Part> => ({ kind: "unread", gap: noted(gap) }),
  };
}

/** The same, each changed or left out, with what its lists lack. */
export function changed<One, Other>(
  said: Said<One>,
  change: (one: One) => Said<Other>,
): SeenList<Said<Other>> {
  const { items, gaps } = insideList(said as SeenList<Said<One>>);
  const isMany = (one: Said<One>) => Array.isArray(one) || "items" in (insideOf(one) ?? {});
  return listOf(items, gaps).flatMap(
    (one): SeenList<Said<Other>> =>
      isMany(one) ? changed(one, change) : listOf(one === undefined ? [] : [change(one as One)], []),
  );
}

/** Whether a list lacks nothing: yes, or unknown. */
export const isWhole = (list: SeenList<unknown>): Truth => list.contains(() => false).not();

/** What was seen, or not, as a list. */
export function listFrom<Item>(
  found: readonly Item[],
): [Extract<Item, Unread>] extends [never] ? KnownList<Item> : SeenList<Item>;
export function listFrom<Item>(found: readonly Item[] | Unread): SeenList<Item>;
export function listFrom<Item>(found: readonly Item[] | Unread): SeenList<Item> {
  return "gap" in found ? listOf([], [found.gap]) : listOf(found, []);
}

/** The first of these that could not be read, or the last one. */
export function looked<T>(
  found: T,
): [Extract<T, Unread>] extends [never] ? KnownSeen<T> : Seen<Exclude<T, Unread>>;
export function looked<T>(...found: readonly [...unknown[], T]): Seen<Exclude<T, Unread>>;
export function looked<T>(...found: readonly [...unknown[], T]): Seen<Exclude<T, Unread>> {
  const unread = found.find((one): one is Unread => (one as Partial<Unread> | undefined)?.kind === "unread");
  const value = found.at(-1) as Exclude<T, Unread>;
  const { contains, flatMap, map } = unread ? listOf([], [unread.gap]) : listOf([value], []);
  const look = <S, U>(arms: { seen: (value: Exclude<T, Unread>) => S; unread: (gap: Gap) => U }) =>
    unread ? arms.unread(unread.gap) : arms.seen(value);
  return close(Object.assign(look, { is: contains, map, items: flatMap }), found) as unknown as Seen<
    Exclude<T, Unread>
  >;
}

/** All items of these lists, if all were seen. */
export function wholes<Items extends readonly unknown[]>(
  ...lists: { readonly [At in keyof Items]: SeenList<Items[At]> }
) {
  const unread = lists.flatMap((list) => open(list).gaps.map((gap) => ({ kind: "unread", gap })));
  return looked(...unread, lists.map(itemsOf) as { [At in keyof Items]: readonly Items[At][] });
}
