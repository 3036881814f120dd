import { lackedIn } from "./gap";
import { itemsOf, open } from "./opened";
import { listFrom, type SeenList, type Truth, truth, withheld } from "./seen";
import type { Gaps } from "./shapes";

// Nothing is known of what doctor did not look for. These do not ask for it: files that may use them, which are OF_FEW in
// test/tools/doctor/findings/reserved.mjs, say how far doctor looked, or what holds all the same.

/**
 * For what holds whatever the answer is: a certain yes says more. Where what was asked for could not be read, `unknown` says so;
 * what doctor did not look for changes nothing.
 */
export function atLeast<Y, L, U>(
  isSo: Truth,
  say: { yes: () => Y; least: () => L; unknown: (gaps: Gaps) => U },
) {
  const answer = open(isSo);
  if (answer === "yes") return say.yes();
  const [gap, ...gaps] = answer === "no" ? [] : lackedIn(answer);
  return gap === undefined ? say.least() : say.unknown([gap, ...gaps]);
}

/** Yes, too, where only what doctor did not look for decides it: a fact's name says that it may be so. */
export const mayBeSo = (isSo: Truth): Truth =>
  atLeast(isSo.not(), { yes: () => truth(false), least: () => truth(true), unknown: () => isSo });

/** For a text that says how far doctor looked, or for advice: that it has none is certain of what was asked for alone. */
export function asFarAsAsked<Item>(list: SeenList<Item>): SeenList<Item> {
  const [gap, ...gaps] = lackedIn(open(list).gaps);
  const seen: SeenList<Item> = listFrom<Item>(itemsOf(list));
  return gap === undefined ? seen : seen.with(withheld([gap, ...gaps]));
}
