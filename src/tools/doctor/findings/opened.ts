// What is inside of lists, answers, texts and findings. Only readers and reports look at it: no judge imports more than types from
// here, which test/tools/doctor/findings/escapes.mjs checks.

import { type Gap, lackedIn } from "./gap";

const INSIDE: unique symbol = Symbol("inside");

/** Only code that imports this file reads the inside. */
export interface Closed<Inside> {
  readonly [INSIDE]: Inside;
}
/** What claims nothing, and goes into a report as it is: advice, or a cause. */
export interface Told<One> extends Closed<{ readonly told: One }> {}
interface Wording {
  readonly told: string;
  /** What was not read of its matter. */
  readonly gaps: readonly Gap[];
  /** Whether it says that there may be more; undefined: it need not. */
  readonly isSaid?: boolean | undefined;
}
declare const LACKING: unique symbol;
/** A text about things that were read. */
export interface Words extends Closed<Wording> {
  readonly [LACKING]?: never;
}
/** The text of an answer that is unknown: it says what is lacking, and goes into a finding that is unknown. */
export interface Lacking extends Closed<Wording> {
  readonly [LACKING]: true;
}
/** What tells one thing from another, to group by, and never to compare; `gaps`: it may be that of another thing, too. */
export interface Key extends Closed<{ readonly key: string; readonly gaps: readonly Gap[] }> {}
/** The words for a thing, with such a key. */
export interface Name extends Closed<Wording & { readonly key: string }> {
  readonly [LACKING]?: never;
}
/** A part of a text: the first of these, or nothing. */
export interface Phrase
  extends Closed<{ readonly items: readonly (string | Words | Lacking)[]; readonly gaps: readonly Gap[] }> {}
/** What is said: of one thing, of several, or nothing. */
export type Said<One> =
  | One
  | undefined
  | Closed<{ readonly items: readonly Said<One>[] }>
  | readonly Said<One>[];

export const close = <Shape extends object, Inside>(shape: Shape, inside: Inside) =>
  Object.assign(shape, { [INSIDE]: inside }) as Shape & Closed<Inside>;
export const open = <Inside>(one: Closed<Inside>): Inside => one[INSIDE];

/** Undefined for what is not closed. */
export const insideOf = (one: unknown): object | undefined =>
  (one as Partial<Closed<object>> | undefined)?.[INSIDE];

/** The items that were seen. */
export const itemsOf = <Item>(list: Closed<{ readonly items: readonly Item[] }>): readonly Item[] =>
  open(list).items;

/** What is made of all items that were asked for; null if some could not be read. */
export const orNull = <Item, Row>(
  list: Closed<{ readonly items: readonly Item[]; readonly gaps: readonly Gap[] }>,
  rowOf: (items: readonly Item[]) => Row,
): Row | null => (lackedIn(open(list).gaps).length > 0 ? null : rowOf(itemsOf(list)));

/** Null: unknown. */
export const trueOrNull = (answer: Closed<"yes" | "no" | readonly unknown[]>): boolean | null =>
  typeof open(answer) === "string" ? open(answer) === "yes" : null;

export const gapsOf = <Gap>(answer: Closed<"yes" | "no" | readonly Gap[]>): readonly Gap[] => {
  const inside = open(answer);
  return typeof inside === "string" ? [] : inside;
};

/** What is said, list by list, as one report. */
export function saidIn<One>(said: Said<One>): readonly One[] {
  if (said === undefined) return [];
  const inside = Array.isArray(said) ? { items: said } : insideOf(said);
  return inside && "items" in inside
    ? (inside.items as readonly Said<One>[]).flatMap((one) => saidIn<One>(one))
    : [said as One];
}

/** What the lists in it lack. */
export function lackIn(said: Said<Closed<object>>): readonly Gap[] {
  if (Array.isArray(said)) return said.flatMap(lackIn);
  const inside: { items?: readonly Said<Closed<object>>[]; gaps?: readonly Gap[] } = Object(insideOf(said));
  return inside.items === undefined ? [] : [...(inside.gaps ?? []), ...inside.items.flatMap(lackIn)];
}

export const textOf = (wording: Wording): Words => close({}, wording);
export const lackingOf = (wording: Wording) => textOf(wording) as Closed<Wording> as Lacking;
export const named = (told: string, key = told, gaps: readonly Gap[] = []): Name =>
  close({}, { told, key, gaps });
export const keyIn = (key: string | Key): string => (typeof key === "string" ? key : open(key).key);
/** One text of several parts. */
export function wordingOf(...parts: readonly unknown[]): Wording {
  const all = parts.map(partOf);
  const lacking = all.filter(({ gaps }) => lackedIn(gaps).length > 0);
  const areSaid = lacking.map(({ isSaid }) => isSaid);
  return {
    told: all.map(({ told }) => told).join(""),
    gaps: [...new Set(lacking.flatMap(({ gaps }) => gaps))],
    isSaid: areSaid.includes(true) || (areSaid.includes(false) ? false : undefined),
  };
}
function partOf(part: unknown): Wording {
  const inside = insideOf(part);
  if (inside && "items" in inside) {
    const { items, gaps } = inside as { readonly items: readonly unknown[]; readonly gaps: readonly Gap[] };
    const first = partOf(items[0]);
    return { ...first, gaps: [...gaps, ...first.gaps] };
  }
  return inside && "gaps" in inside ? (inside as Wording) : { told: `${tell(part ?? "")}`, gaps: [] };
}
export const toldOf = <One>(told: One): Told<One> => close({}, { told });
export const tell = <One>(one: One | Told<One>): One => {
  const inside = insideOf(one);
  return inside && "told" in inside ? (inside.told as One) : (one as One);
};

export type Text = string | Words;
/** A text with such ones in it; with advice in it, advice. */
export const words = <Parts extends readonly (string | number | Phrase | Lacking | Told<string>)[]>(
  texts: TemplateStringsArray,
  ...parts: Parts
) => textOf(wordingOf(...texts.flatMap((text, at) => [text, parts[at]]))) as Worded<Parts>;
type Worded<Parts extends readonly unknown[]> = [Parts[number]] extends [
  string | number | Phrase | Words | Lacking,
]
  ? true extends { readonly [At in keyof Parts]: Parts[At] extends Lacking ? true : false }[number]
    ? Lacking
    : Words
  : Told<string>;
export const lacking = (gaps: readonly Gap[], text: Text | Lacking) =>
  lackingOf({ told: tell<string>(text as string), gaps, isSaid: true });
