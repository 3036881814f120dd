import { nearWord } from "../../../base/near-word";
import type { Gap, KnownField, Unread } from "./gap";
import { grouped, sortedBy } from "./grouped";
import {
  type Closed,
  close,
  insideOf,
  itemsOf,
  open,
  type Said,
  type Told,
  tell,
  textOf,
  toldOf,
  type Words,
  wordingOf,
} from "./opened";
import type { Text } from "./text";
import type { Answers, Known, Looked, Unclear } from "./unclear";
import { counted, firstOf } from "./words";

export { type CallFailure, type Flaw, type Gap, refuseFlaw, type Unread, type Why, whyOf } from "./gap";
export { lacking, type Text, words } from "./text";

// An unread list never counts as an empty one: these types have no conversion from one to the other.

type Gaps = readonly [Gap, ...Gap[]];
interface Arms<Y, N, U> {
  readonly yes: () => Y;
  readonly no: () => N;
  readonly unknown: (gaps: Gaps) => U;
}
type Answered<R> = undefined extends R ? R | Withheld : R;

/** The same where the answer is no, and where it is unknown. */
export const otherwise = <R>(say: () => R) => ({ no: say, unknown: say });

/** What is said, or is there, only if the answer is yes. */
export const ifYes = <One>(isSo: Truth, say: () => One): SeenList<One> =>
  isSo({ yes: () => listOf([say()], []), no: () => listOf<One>([], []), unknown: withheld });

/** What every function has says nothing of an answer. */
type Mute = { readonly [Own in Exclude<keyof CallableFunction, symbol>]: Known };

/**
 * An answer to a question: yes, no or unknown. Call it with what each of the three means. It is a function, so that TypeScript
 * refuses it as a condition; test/tools/doctor/findings/escapes.mjs finds what TypeScript cannot refuse, such as `!answer`.
 */
export interface Truth extends Closed<Answer>, Mute {
  <Y, N = Y, U = Y>(arms: Arms<Y, N, U & Unclear<U, Y | N>> & Answers<U>): Answered<Y | N | U>;
  /** The same, closed. */
  say<Y, N = Y, U = Y>(arms: Arms<Y, N, U & Unclear<U, Y | N>> & Answers<U>): SeenList<Y | N | U>;
  not(): Truth;
  or(other: boolean | Truth): Truth;
  and(other: boolean | Truth): Truth;
}

type IsSo<Item> = (item: Item) => boolean | Truth;
type Some<R> = R | readonly R[] | undefined;
interface Inside<Item> {
  readonly items: readonly Item[];
  readonly gaps: readonly Gap[];
}

/**
 * The items of a list that could be read, and which parts could not. It has no length, no index and no iterator: whether an
 * item is absent is a question, with the answer unknown where a part of the list could not be read.
 */
export interface SeenList<Item> extends Closed<Inside<Item>> {
  /** What follows from the items that were seen, if there is one; there may be others. */
  some<Y, N = Y, U = Y>(
    arms: Omit<Arms<Y, N, U & Unclear<U, N>>, "yes"> &
      Answers<U> & { readonly yes: (seen: Group<Item>) => Y },
  ): Answered<Y | N | U>;
  /** As advice or a cause, the first that was seen, or else another one: no text of a finding takes it, for it claims nothing. */
  told<Other>(other: Other | Told<Other>): Told<Untold<Item> | Other>;
  /** Yes beats unknown, unknown beats no. Without a question: whether it contains anything. */
  contains(isSo?: IsSo<Item>): Truth;
  map<R>(change: (item: Item) => R): SeenList<R>;
  flatMap<R>(change: (item: Item) => Some<R> | SeenList<R>): SeenList<R>;
  /** An item of which the answer is unknown is left out, and leaves its gap. */
  filter(isSo: IsSo<Item>): SeenList<Item>;
  with(more: readonly Item[] | SeenList<Item>): SeenList<Item>;
  /** In groups, as far as the items were seen. Those of a group are alike in `at`, too: it lacks nothing that is known to be elsewhere. */
  grouped(keyOf: (item: Item) => Text | Told<string>, at?: At<Item>): SeenList<Group<Item>>;
  /** All that were seen as one group, if there are any. */
  together(): SeenList<Group<Item>>;
  /** The items with a key. */
  by(keyOf: (item: Item) => string): (key: string) => SeenList<Item>;
  sorted(keyOf: (item: Item) => string | number): SeenList<Item>;
}
/** Where an item is; a list: where it may be. */
type At<Item> = { readonly [Field in KnownField]?: (item: Item) => string | undefined | SeenList<string> };
type Untold<Item> = Item extends Told<infer One> ? One : Item;

/** A list of which one item was seen at least. */
export interface Group<Item> extends SeenList<Item> {
  readonly first: Item;
  readonly others: SeenList<Item>;
  /** The words of those that were seen, each once, joined. With these three a finding says where there may be more. */
  joined(wordsOf: (item: Item) => Text, by?: string): Words;
  /** Of many only the first ones; one that is like this word leads. */
  named(nameOf: (item: Item) => string, like?: string): Words;
  /** How many were seen, or the sum of their sizes: `2 nodes`, or `at least 2 nodes`. */
  counted(one: string, sizeOf?: (item: Item) => number): Words;
}
/** It passes for a list, and for nothing else. */
export interface Withheld extends SeenList<never> {}

type Answer = "yes" | "no" | Gaps;

type KnownTruth = Truth & Known;
export const truth = <One extends boolean | Gap>(answer: One) =>
  truthOf(typeof answer === "boolean" ? (answer ? "yes" : "no") : [answer]) as [One] extends [boolean]
    ? KnownTruth
    : Truth;

const truthOf = (answer: Answer) => (answer === "yes" ? YES : answer === "no" ? NO : newTruth(answer));

function newTruth(answer: Answer): Truth {
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

function sayBy<Y, N, U>(answer: Answer, { yes, no, unknown }: Arms<Y, N, U>): Answered<Y | N | U> {
  const said = answer === "yes" ? yes() : answer === "no" ? no() : unknown(answer);
  return said as Answered<Y | N | U>;
}

const [YES, NO] = [newTruth("yes"), newTruth("no")];

const answerOf = (asked: boolean | Truth): Answer =>
  typeof asked === "boolean" ? (asked ? "yes" : "no") : open(asked);

function eitherOf(one: Answer, other: Answer): Answer {
  if (one === "yes" || other === "yes") return "yes";
  if (one === "no") return other;
  return other === "no" ? one : (union<Gap>([one, other]) as readonly Gap[] as Gaps);
}

const union = <One>(lists: readonly (readonly One[])[]): readonly One[] => [...new Set(lists.flat())];

function insideList<Item>(value: Some<Item> | SeenList<Item>): Inside<Item> {
  const inside = insideOf(value);
  if (inside && "gaps" in inside) return inside as Inside<Item>;
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
    map: (change) => listOf(items.map(change), gaps),
    flatMap,
    filter: (isSo) =>
      flatMap((item) => {
        const answer = answerOf(isSo(item));
        return typeof answer === "string" ? (answer === "yes" ? [item] : []) : listOf<Item>([], answer);
      }),
    with: (more) => listOf(items.concat(insideList(more).items), union([gaps, insideList(more).gaps])),
    grouped: (keyOf, at = {}) => {
      const keyIn = (one: Item) =>
        JSON.stringify([
          tell<string>(keyOf(one)),
          ...Object.values(at).map((of) => insideList(of(one)).items),
        ]);
      const groups = [...grouped(items, keyIn).values()];
      return listOf(
        groups.map((one) =>
          groupOf(
            one,
            gaps.filter((gap) => mayBeAt(at, one[0], gap)),
          ),
        ),
        gaps,
      );
    },
    together: () => list.grouped(() => ""),
    by: (keyOf) => byKey(items, keyOf, () => gaps),
    sorted: (keyOf) => listOf(sortedBy(items, keyOf), gaps),
  };
  return close(list, { items, gaps }) as SeenList<Item>;
}

function mayBeAt<Item>(at: At<Item>, item: Item, { known = {} }: Gap): boolean {
  return Object.entries(at).every(([field, of]) => {
    const { items, gaps } = insideList(of(item));
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
      const own = wordingOf(...items.map(wordsOf));
      const told = each(wordsOf).join(by);
      return textOf({ told, gaps: union([gaps, own.gaps]), isSaid: own.isSaid ?? false });
    },
    named: (nameOf: (item: Item) => string, like?: string) => {
      const near = like === undefined ? undefined : nearWord(like, each(nameOf));
      const told = firstOf(union([near === undefined ? [] : [near], each(nameOf)]));
      return textOf({ told, gaps, isSaid: false });
    },
    counted: (one: string, sizeOf: (item: Item) => number = () => 1) => {
      const size = items.map(sizeOf).reduce((sum, some) => sum + some);
      const least = gaps.length > 0 ? "at least " : "";
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

/** Nothing is said of what is unknown: another finding says what could not be read. */
export const withheld = (gaps: Gaps): Withheld => listOf<never>([], gaps);
export const nothing = () => undefined;
/** What a table shows even where it is not known whether it belongs there. */
export const kept = <Row>(row: Row & Shown<Row>): SeenList<Row> => listOf<Row>([row], []);
export type Shown<Row> = [Row] extends [Told<object>]
  ? unknown
  : Row extends Closed<unknown>
    ? never
    : unknown;

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
    /** The items with a key, of which each has its own: the list of one that was seen lacks nothing. */
    unique: <Item>(list: SeenList<Item>, keyOf: (item: Item) => string) =>
      byKey(itemsOf(list), keyOf, (_, isSeen) => (isSeen ? [] : open(list).gaps)),
    /** The items with a key, which is this field of what is known of gaps. */
    byKnown: <Item>(list: SeenList<Item>, keyOf: (item: Item) => string, field: KnownField) =>
      byKey(itemsOf(list), keyOf, (key) =>
        open(list).gaps.filter(({ known }) => [undefined, key].includes(known?.[field])),
      ),
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

type KnownList<Item> = SeenList<Item> & Known;
/** What was seen, or not, as a list. */
export function listFrom<Item>(found: readonly Item[]): KnownList<Item>;
export function listFrom<Item>(found: readonly Item[] | Unread): SeenList<Item>;
export function listFrom<Item>(found: readonly Item[] | Unread): SeenList<Item> {
  return "gap" in found ? listOf([], [found.gap]) : listOf(found, []);
}

/** One thing as judges get it: call it with what follows from it, and with what is said if it could not be read. */
export interface Seen<T> extends Closed<Looked<T>>, Mute {
  <S, U = S>(
    arms: { seen: (value: T) => S; unread: (gap: Gap) => U & Unclear<U, S> } & Answers<U, "unread">,
  ): Answered<S | U>;
  /** Unknown if it could not be read. */
  is(isSo: IsSo<T>): Truth;
  /** What is made of it: none where it could not be read. */
  map<R>(change: (value: T) => R): SeenList<R>;
  items<R>(change: (value: T) => Some<R> | SeenList<R>): SeenList<R>;
}

/** The first of these that could not be read, or the last one. */
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
export type ItemOf<List> = List extends SeenList<infer Item> ? Item : never;
