import type { Closed, Lacking, Said, Told, Words } from "./opened";
import type { Verdict } from "./verdict";

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
