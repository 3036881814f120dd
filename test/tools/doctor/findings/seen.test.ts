import fc from "fast-check";
import {
  type Gap,
  type Seen,
  seen,
  startReading,
  type Truth,
  truth,
  whyOf,
} from "../../../../src/tools/doctor/findings/seen";
import { filesBelow, readText } from "../../../docs/markdown";

const GAP: Gap<"part"> = { part: "part", subject: "/x", why: { kind: "errno", errno: "EACCES" } };

const wordOf = (answer: Truth) => answer({ yes: () => "yes", no: () => "no", unknown: () => "unknown" });
const listOf = (items: readonly number[], isWhole: boolean) =>
  startReading<"part">().list(items, isWhole ? [] : [GAP]);
const truths = { yes: truth(true), no: truth(false), unknown: truth(GAP) };
const worlds = fc.record({ items: fc.array(fc.nat(5)), isWhole: fc.boolean(), wanted: fc.nat(5) });

test("TypeScript refuses to count a list that may have gaps", () => {
  const list = listOf([1], false);
  const one: Seen<number> = startReading<"part">().unread(GAP);
  const isThere = list.contains((item) => item === 2);
  const refused = () => [
    // @ts-expect-error An unread thing has no value.
    one.value,
    // @ts-expect-error A list has no length.
    list.length,
    // @ts-expect-error What is said of a list cannot be counted.
    list.each((item) => item).length,
    // @ts-expect-error A list is not iterable.
    [...list],
    // @ts-expect-error An answer is no condition.
    isThere ? 1 : 2,
    // @ts-expect-error An answer is no boolean.
    isThere === false,
  ];
  expect(refused).toThrow(TypeError);
});

test("yes beats unknown, unknown beats no", () => {
  for (const [one, first] of Object.entries(truths))
    for (const [other, second] of Object.entries(truths)) {
      const both = [one, other];
      const either = both.includes("yes") ? "yes" : both.includes("unknown") ? "unknown" : "no";
      const all = both.includes("no") ? "no" : both.includes("unknown") ? "unknown" : "yes";
      expect([wordOf(first.or(second)), wordOf(first.and(second))]).toEqual([either, all]);
    }
  expect(Object.values(truths).map((one) => wordOf(one.not()))).toEqual(["no", "yes", "unknown"]);
});

test("no list derived from one with a gap reports an item as absent", () => {
  fc.assert(
    fc.property(worlds, ({ items, isWhole, wanted }) => {
      const list = listOf(items, isWhole);
      const whole = listOf([], true);
      const made = [
        list,
        list.map((item) => item),
        list.filter(() => true),
        list.flatMap((item) => [item]),
        list.with([]),
        whole.with(list),
        listOf([1], true).flatMap(() => list),
        list.grouped(String).flatMap((group) => group),
        list
          .by(() => "")("")
          .with(list.by(String)("none")),
      ];
      const expected = items.includes(wanted) ? "yes" : isWhole ? "no" : "unknown";
      for (const one of made) {
        expect(wordOf(one.contains((item) => item === wanted))).toBe(expected);
        expect(one.all().kind).toBe(isWhole ? "seen" : "unread");
        expect([...one.sorted(String).each((item) => item)]).toEqual(items.toSorted());
        expect(one.known((item) => item === wanted)).toBe(items.includes(wanted) ? wanted : undefined);
      }
    }),
  );
});

test("an item of which the answer is unknown is left out, and its gap stays", () => {
  const list = listOf([1, 2], true).filter((item) => (item === 1 ? true : truths.unknown));
  expect([...list.each((item) => item)]).toEqual([1]);
  expect(list.all()).toEqual({ kind: "unread", gap: GAP });
  expect(wordOf(listOf([1], true).contains(() => truths.unknown))).toBe("unknown");
  expect(listOf([1], true).known(() => truths.unknown)).toBeUndefined();
});

test("a reading lists every gap once", () => {
  const reading = startReading<"part">();
  reading.list([], [GAP]);
  reading.unread(GAP);
  expect(reading.gaps()).toEqual([GAP]);
  expect(seen(1)).toEqual({ kind: "seen", value: 1 });
});

test("an error without an errno does not count as a file system's", () => {
  expect(whyOf(Object.assign(new Error("x"), { code: "EACCES" }))).toEqual({
    kind: "errno",
    errno: "EACCES",
  });
  expect(whyOf(new TypeError("x is not a function"))).toMatchObject({ kind: "fault" });
});

/**
 * The ways around these types that TypeScript does not see: to spread what is said of a list and count it, to replace the answer
 * that was withheld, and to take an answer that has no name for a condition.
 */
const ESCAPES: readonly RegExp[] = [
  /\[\s*\.\.\.[\w.]+\.each\([^;]*?\)\s*\]\s*(?:\.(?!flat\b|map\b|flatMap\b|filter\b)|\[)/,
  /\b(?:ifYes|ifNo)\((?:[^()]|\([^()]*\))*\)\s*(?:\?\?|\|\|)/,
  /!\s*[\w.]+\.contains\(/,
  /\.contains\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*(?:&&|\|\||\?[^.])/,
  /\b(?:if|while) \((?:[^()]|\([^()]*\))*\.contains\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)/,
];
const escapesIn = (text: string) => ESCAPES.filter((way) => way.test(text));

test("no source file bypasses these types", () => {
  const sources = filesBelow("src/tools/doctor", ".ts").filter((file) =>
    /\/(?:judge|report|files|cluster|node)\b/.test(file),
  );
  expect(sources.length).toBeGreaterThan(30);
  expect(sources.filter((file) => escapesIn(readText(file)).length > 0)).toEqual([]);
});

test.each([
  "if ([...list.each((one) => one)].length === 0) return;",
  "const first = [...view.list.each((one) => judge(one, view))][0];",
  'const has = [...list.each((one) => one)].some((one) => one === "x");',
  "return list.contains((one) => one.is(x)).ifNo(() => problem(x)) ?? ok(x);",
  "const away = !view.kubelets.contains((one) => one.isHere);",
  "return list.contains(({ name }) => isSame(name)) ? ok() : bad();",
  "if (list.contains((one) => one === 1)) return ok();",
])("an escape is noticed: %s", (line) => {
  expect(escapesIn(line)).not.toEqual([]);
});
