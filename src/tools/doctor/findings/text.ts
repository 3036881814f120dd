import type { Gap } from "./gap";
import {
  type Lacking,
  lackingOf,
  type Phrase,
  type Told,
  tell,
  textOf,
  type Words,
  wordingOf,
} from "./opened";

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
