import type { Closed, Said, Words } from "./opened";
import type { Lacking } from "./text";

declare const KNOWN: unique symbol;
/** What never stands for the unknown. */
export interface Known {
  readonly [KNOWN]: true;
}

/**
 * What stands for the unknown says so by its type: something closed, as `withheld`, a text, a list, another answer, or a finding
 * that is neither ok nor a problem; or a state that is certainly unread, and knows nothing but why. TypeScript refuses all else, as
 * undefined, "" or [], and a state that may be another one. A finding stands for it only among findings: beside true and false it
 * would be a third one, which a comparison takes for false.
 */
export type Unclear<U, Others> = [Wrong<U, Others>] extends [never] ? unknown : never;
type Wrong<U, Others> = U extends Known
  ? U
  : U extends { readonly kind: "unread" }
    ? U[Exclude<keyof U, "kind" | "gap" | "lack">] & {}
    : U extends Closed<infer Inside>
      ? Inside extends { readonly status: infer S }
        ? [Others] extends [Said<Closed<{ readonly status: unknown }>>]
          ? S & ("ok" | "problem")
          : U
        : Inside extends Looked<infer T>
          ? T
          : U extends Words
            ? Exclude<U, Lacking>
            : never
      : U;
/** An arm that throws answers nothing. */
export type Answers<U, Arm extends string = "unknown"> = [U] extends [never]
  ? { readonly [At in Arm]: Known }
  : unknown;

export interface Looked<T> {
  readonly looked: T;
}
