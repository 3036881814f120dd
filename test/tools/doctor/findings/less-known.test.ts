import { named } from "../../../../src/tools/doctor/findings/opened";
import {
  beyond,
  listFrom,
  looked,
  startReading,
  truth,
  words,
} from "../../../../src/tools/doctor/findings/seen";
import { otherFactsIn } from "./less-known";

const GAP = beyond("files");
const UNREAD = { kind: "unread", gap: GAP } as const;
/** Nobody calls `a`. */
const alike = (of: () => number) => ({ a: of, of });
const some = (...items: readonly unknown[]) => startReading().list(items, [GAP]);

test.each<readonly [what: string, less: unknown, more: unknown]>([
  ["an unread list", some(), listFrom([1, 2])],
  ["a part of a list", some({ a: 1 }), listFrom([{ a: 2 }, { a: 1 }])],
  ["an unknown answer", truth(GAP), truth(true)],
  ["an unread value", looked(UNREAD), looked({ a: 1 })],
  ["an unread state", { at: UNREAD }, { at: { kind: "there" } }],
  ["an unread value of a list", listFrom([{ a: looked(UNREAD), b: 1 }]), listFrom([{ a: looked(2), b: 1 }])],
  ["a name with a placeholder", named("{{ x }}", "k", [GAP]), named("x")],
  ["another text", words`a ${1}`, words`b`],
  ["an order", new Set(["b", "a"]), new Set(["a", "b"])],
])("%s is no other fact", (_what, less, more) => expect(otherFactsIn(less, more)).toEqual([]));

test.each<readonly [expected: string, less: unknown, more: unknown]>([
  [".a: 1, and it is 2", { a: 1 }, { a: 2 }],
  [".a: undefined, and it is 2", {}, { a: 2 }],
  [".a: 1, and it is undefined", { a: 1 }, {}],
  ['.a: "", and it is {"kind":"unread"', { a: "" }, { a: UNREAD }],
  [": [], and it is [1]", [], [1]],
  ['{}: "a", and it is "b"', new Set(["a"]), new Set(["b"])],
  [".a: 1, and it is 2", new Map([["a", 1]]), new Map([["a", 2]])],
  [": 3, which is not there", some(3), listFrom([])],
  ["[].a: 3, and it is 1", some({ a: 3 }), listFrom([{ a: 1 }])],
  [": without 2", listFrom([1]), listFrom([1, 2])],
  [": lacks nothing, and it lacks some", listFrom([1]), some(1)],
  [': "no", and it is "yes"', truth(false), truth(true)],
  [': "no", and it is [', truth(false), truth(GAP)],
  ["(): 1, and it is 2", looked(1), looked(2)],
  [": [1], and it is unknown", looked(1), looked(UNREAD)],
  ['#: "x", and it is "y"', named("x"), named("y")],
  ['.of("k").a: 1, and it is 2', { of: () => ({ a: 1 }) }, { of: () => ({ a: 2 }) }],
  ['[].of("k"): 1, and it is 2', listFrom([alike(() => 1)]), listFrom([alike(() => 2)])],
  ['[].of("k"): 1, and it is 2', listFrom([{ of: () => 1 }]), listFrom([{ of: () => 2 }])],
])("%#. told: %s", (expected, less, more) => {
  const [first = "", ...others] = otherFactsIn(less, more, { calls: { of: [["k"]] } });
  expect([first.slice(0, expected.length), others]).toEqual([expected, []]);
  expect(otherFactsIn({ place: less }, { place: more }, { asWritten: ["place"] })).toEqual([]);
});
