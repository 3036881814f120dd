import type { Gap, KnownField } from "./gap";
import type { Closed, Key, Lacking, Said, Text, Told, Words } from "./opened";
import type { Verdict } from "./verdict";

// Types for values that may be unread. No conversion makes an empty list of an unread one.

export type Gaps = readonly [Gap, ...Gap[]];
export interface Arms<Y, N, U> {
  readonly yes: () => Y;
  readonly no: () => N;
  readonly unknown: (gaps: Gaps) => U;
}
export type OrWithheld<R> = undefined extends R ? R | Withheld : R;

/** What every function has says nothing of an answer. */
type Mute = { readonly [Own in Exclude<keyof CallableFunction, symbol>]: Known };

/**
 * An answer to a question: yes, no or unknown. Call it with what each of the three means. It is a function, so that TypeScript
 * refuses it as a condition; test/tools/doctor/findings/escapes.mjs finds what TypeScript cannot refuse, such as `!answer`.
 */
export interface Truth extends Closed<YesNo>, Mute {
  <Y, N = Y, U = Y>(arms: Arms<Y, N, U & Unclear<U, Y | N>> & Answers<U>): OrWithheld<Y | N | U>;
  /** The same, closed. */
  say<Y, N = Y, U = Y>(arms: Arms<Y, N, U & Unclear<U, Y | N>> & Answers<U>): SeenList<Y | N | U>;
  not(): Truth;
  or(other: boolean | Truth): Truth;
  and(other: boolean | Truth): Truth;
}

/** Of findings what is unknown; all else as it is. */
export type Doubted<R> = [R] extends [Said<Verdict>] ? SeenList<Verdict<"unknown">> : R;
type IsSo<Item> = (item: Item) => boolean | Truth;
export type Some<R> = R | readonly R[] | undefined;
export interface Inside<Item> {
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
  ): OrWithheld<Y | N | U>;
  /** As advice or a cause, the first that was seen, or else another one: no text of a finding takes it, for it claims nothing. */
  told<Other>(other: Other | Told<Other>): Told<Untold<Item> | Other>;
  /** Yes beats unknown, unknown beats no. Without a question: whether it contains anything. */
  contains(isSo?: IsSo<Item>): Truth;
  map<R>(change: (item: Item) => R): SeenList<R>;
  flatMap<R>(change: (item: Item) => Some<R> | SeenList<R>): SeenList<R>;
  /** An item of which the answer is unknown is left out, and leaves its gap. */
  filter(isSo: IsSo<Item>): SeenList<Item>;
  /** Adds the items of a list that may lack some. TypeScript refuses a certain list: its item would lead where this list was not read. */
  with(more: SeenList<never>): SeenList<Item>;
  with<Other, More extends SeenList<Other>>(
    more: More & SeenList<Other> & Unsettled<More>,
  ): Mixed<Item | Other>;
  /** With this one, if it certainly has no other. */
  orElse(other: () => Item): SeenList<Item>;
  /**
   * In groups, as far as the items were seen. By `at`, a group lacks nothing that is known to be elsewhere than all items of its key.
   * A key is plain: two keys that could not be read would be equal, and their items would count as alike. Where one may be that of
   * another thing, each group may lack an item.
   */
  grouped(keyOf: (item: Item) => string | Key, at?: At): SeenList<Group<Item>>;
  /** All that were seen as one group, if there are any. */
  together(): SeenList<Group<Item>>;
  /** The items with a key. */
  by(keyOf: (item: Item) => string): (key: string) => SeenList<Item>;
  sorted(keyOf: (item: Item) => string | number): Ordered<Item>;
}
/** In an order: what was not read may come before the first, so that nothing follows from which item that is. */
export interface Ordered<Item> extends Closed<Inside<Item>> {
  told<Other>(other: Other | Told<Other>): Told<Untold<Item> | Other>;
  map<R>(change: (item: Item) => R): Ordered<R>;
  flatMap<R>(change: (item: Item) => Some<R> | SeenList<R>): Ordered<R>;
  filter(isSo: IsSo<Item>): Ordered<Item>;
  together(): SeenList<Ordered<Item> & Pick<Group<Item>, "joined" | "named" | "counted">>;
}
/** Where all items of a key are; a list: where they may be. */
export type Spots = {
  readonly [Field in KnownField]?: (key: string) => string | undefined | SeenList<string>;
};
/** The same, closed: no judge makes it, for where a key of another kind is follows from nothing. */
export interface At extends Closed<Spots> {}
type Untold<Item> = Item extends Told<infer One> ? One : Item;

declare const MIXED: unique symbol;
/**
 * Items of several lists: the first one may be of a later list because an earlier one could not be read. `firstIn` asks lists in
 * their order.
 */
export interface Mixed<Item> extends SeenList<Item> {
  readonly [MIXED]: true;
  map<R>(change: (item: Item) => R): Mixed<R>;
  flatMap<R>(change: (item: Item) => Some<R> | SeenList<R>): Mixed<R>;
  filter(isSo: IsSo<Item>): Mixed<Item>;
  orElse(other: () => Item): Mixed<Item>;
}
/** Lists that are not such ones. */
export type Apart<Lists> = {
  readonly [At in keyof Lists]: Lists[At] extends Mixed<unknown> ? never : unknown;
};

/** A list of which one item was seen at least. */
export interface Group<Item> extends SeenList<Item> {
  readonly first: Item;
  readonly others: SeenList<Item>;
  /** The words of those that were seen, each once, joined. With these three a finding says where there may be more. */
  joined(wordsOf: (item: Item) => Text, by?: string): Words;
  /** Of many only the first ones; one that is like this word leads. */
  named(nameOf: (item: Item) => string, like?: string): Words;
  /** How many were seen, or the sum of their sizes: `2 nodes`, or `at least 2 nodes`. */
  counted(one: string, sizeOf?: (item: Item) => number | Told<number>): Words;
}
/** It passes for a list, and for nothing else. */
export interface Withheld extends SeenList<never> {}

export type YesNo = "yes" | "no" | Gaps;

export type KnownTruth = Truth & Known;

export interface KnownList<Item> extends SeenList<Item>, Known {
  map<R>(change: (item: Item) => R): KnownList<R>;
  flatMap<R>(change: (item: Item) => Some<R & Shown<R>>): KnownList<R>;
  flatMap<R>(change: (item: Item) => Some<R> | SeenList<R>): SeenList<R>;
  filter(isSo: (item: Item) => boolean): KnownList<Item>;
  filter(isSo: IsSo<Item>): SeenList<Item>;
  orElse(other: () => Item): KnownList<Item>;
  sorted(keyOf: (item: Item) => string | number): KnownList<Item>;
}
type Unsettled<More> = [More] extends [Known] ? never : unknown;

/** One thing as judges get it: call it with what follows from it, and with what is said if it could not be read. */
export interface Seen<T> extends Closed<Looked<T>>, Mute {
  <S, U = S>(
    arms: { seen: (value: T) => S; unread: (gap: Gap) => U & Unclear<U, S> } & Answers<U, "unread">,
  ): OrWithheld<S | U>;
  /** Unknown if it could not be read. */
  is(isSo: IsSo<T>): Truth;
  /** What is made of it: none where it could not be read. */
  map<R>(change: (value: T) => R): SeenList<R>;
  items<R>(change: (value: T) => Some<R> | SeenList<R>): SeenList<R>;
}

export type KnownSeen<T> = Pick<KnownList<T>, "map"> & Known & Seen<T>;

type Shown<Row> = Row extends Closed<unknown> ? never : unknown;
export type ItemOf<List> = List extends SeenList<infer Item> ? Item : never;

declare const KNOWN: unique symbol;
/** What never stands for the unknown. */
export interface Known {
  readonly [KNOWN]: true;
}

/**
 * What stands for the unknown says so by its type: a finding that is unknown, a text that says what is lacking, a row, advice, a
 * list of such ones or `withheld`; or a state that is certainly unread, and knows nothing but why. TypeScript refuses all else, as
 * undefined, "" or [], and another answer. A finding stands for it only among findings: beside true and false it would be a third
 * one, which a comparison takes for false.
 */
export type Unclear<U, Others> = [Wrong<U, Others>] extends [never] ? unknown : never;
type Wrong<U, Others> = U extends Known | undefined | readonly unknown[]
  ? U
  : U extends { readonly kind: "unread" }
    ? U[Exclude<keyof U, "kind" | "gap" | "lack">] & {}
    : U extends Verdict
      ? [Others] extends [Said<Verdict>]
        ? Exclude<U, Verdict<"unknown">>
        : U
      : U extends Words
        ? U
        : U extends Said<Stand> | Told<unknown>
          ? never
          : U;
type Stand =
  | (Verdict<"unknown"> | Lacking | Told<object> | Closed<Looked<never>>)
  | { readonly row: Told<object> }
  | { readonly kind: "unread" };
/** An arm that throws answers nothing. */
export type Answers<U, Arm extends string = "unknown"> = [U] extends [never]
  ? { readonly [At in Arm]: Known }
  : unknown;

export interface Looked<T> {
  readonly looked: T;
}
