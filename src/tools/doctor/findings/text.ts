import type { Gap } from "./gap";
import { type Phrase, type Told, tell, textOf, type Words, wordingOf } from "./opened";

export type Text = string | Words;
declare const LACKING: unique symbol;
/** The text of an answer that is unknown: it says what is lacking. */
export interface Lacking extends Words {
  readonly [LACKING]: true;
}

/** A text with such ones in it; with advice in it, advice. */
export const words = <Parts extends readonly (string | number | Phrase | Told<string>)[]>(
  texts: TemplateStringsArray,
  ...parts: Parts
) => textOf(wordingOf(...texts.flatMap((text, at) => [text, parts[at]]))) as Worded<Parts>;
type Worded<Parts extends readonly unknown[]> = [Parts[number]] extends [string | number | Phrase | Words]
  ? true extends { readonly [At in keyof Parts]: Parts[At] extends Lacking ? true : false }[number]
    ? Lacking
    : Words
  : Told<string>;
export const lacking = (gaps: readonly Gap[], text: Text) =>
  textOf({ told: tell<string>(text), gaps, isSaid: true }) as Lacking;
