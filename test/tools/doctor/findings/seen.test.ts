import fc from "fast-check";
import {
  also,
  check,
  ok,
  problem,
  skipped,
  softened,
  troublesIn,
  unknown,
  type Verdict,
  type Verdicts,
} from "../../../../src/tools/doctor/findings/finding";
import { asFarAsAsked } from "../../../../src/tools/doctor/findings/least";
import {
  itemsOf,
  open,
  orNull,
  saidIn,
  tell,
  trueOrNull,
} from "../../../../src/tools/doctor/findings/opened";
import { findingsOfAll } from "../../../../src/tools/doctor/findings/report";
import {
  beyond,
  changed,
  firstIn,
  firstSeen,
  type Gap,
  type Group,
  ifYes,
  lacking,
  looked,
  nothing,
  otherwise,
  placedAt,
  type Seen,
  type SeenList,
  startReading,
  type Text,
  type Truth,
  toldOf,
  truth,
  type Unread,
  wholes,
  whyOf,
  withheld,
  words,
} from "../../../../src/tools/doctor/findings/seen";

const GAP: Gap<"part"> = { part: "part", subject: "/x", why: { kind: "errno", errno: "EACCES" } };

const wordOf = (answer: Truth) =>
  tell(answer({ yes: () => "yes", no: () => "no", unknown: (gaps) => lacking(gaps, "unknown") }));
const listOf = (items: readonly number[], isWhole: boolean) =>
  startReading<"part">().list(items, isWhole ? [] : [GAP]);
const truths = { yes: truth(true), no: truth(false), unknown: truth(GAP) };
const UNREAD = looked<number | Unread>(startReading<"part">().unread(GAP));
const wholeIn = (...lists: readonly SeenList<number>[]) => {
  const { items, gaps } = open(wholes(...lists).items((all) => all.flat()));
  return gaps[0] ?? items;
};
const worlds = fc.record({ items: fc.array(fc.nat(5)), isWhole: fc.boolean(), wanted: fc.nat(5) });

test("TypeScript refuses to count a list that may have gaps", () => {
  const list = listOf([1], false);
  const one: Seen<number> = UNREAD;
  const isThere = list.contains((item) => item === 2);
  const refused = () => [
    // @ts-expect-error An unread thing has no value.
    one.value,
    // @ts-expect-error A list has no length.
    list.length,
    // @ts-expect-error What is said of a list cannot be counted.
    list.flatMap(() => 1).length,
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
      const other = list.orElse(() => 6);
      expect(itemsOf(other)).toEqual(items.length > 0 ? items : isWhole ? [6] : []);
      expect(wordOf(other.contains((item) => item === 7))).toBe(isWhole ? "no" : "unknown");
      const made = [
        list,
        list.map((item) => item),
        list.filter(() => true),
        list.flatMap((item) => [item]),
        list.with(whole),
        whole.with(list),
        listOf([1], true).flatMap(() => list),
        list.grouped(String).flatMap((group) => group.map((item) => item)),
        list
          .by(() => "")("")
          .with(list.by(String)("none")),
      ];
      const expected = items.includes(wanted) ? "yes" : isWhole ? "no" : "unknown";
      for (const one of made) {
        expect(wordOf(one.contains((item) => item === wanted))).toBe(expected);
        expect(wholeIn(one)).toEqual(isWhole ? [...itemsOf(one)] : GAP);
        expect([...itemsOf(one.sorted(String))]).toEqual(items.toSorted());
        const answers = {
          no: () => "no",
          unknown: (gaps: readonly Gap[]) => lacking(gaps, "unknown"),
        } as const;
        const found = one.filter((item) => item === wanted);
        expect(tell(found.some({ yes: ({ first }) => `${first}`, ...answers }))).toBe(
          expected === "yes" ? `${wanted}` : expected,
        );
        const all = one.some({
          yes: (seen) => words`${seen.counted("one")}: ${seen.joined(String)}`,
          ...answers,
        });
        expect(tell(all)).toBe(
          items.length > 0
            ? `${isWhole ? "" : "at least "}${items.length} one${items.length === 1 ? "" : "s"}: ${[...new Set(items)].join(", ")}`
            : wordOf(one.contains()),
        );
      }
    }),
  );
});

test("the first of several lists is none where one before it may have one", () => {
  fc.assert(
    fc.property(worlds, worlds, (one, other) => {
      const lists = [listOf(one.items, one.isWhole), listOf(other.items, other.isWhole)] as const;
      const [seen] = [...one.items, ...other.items];
      const isHidden = one.items.length === 0 && !one.isWhole;
      expect([...itemsOf(firstIn(...lists))]).toEqual(seen === undefined || isHidden ? [] : [seen]);
      expect([...itemsOf(firstSeen(...lists))]).toEqual(seen === undefined ? [] : [seen]);
      const isNone = seen === undefined && one.isWhole && other.isWhole;
      const expected = isNone ? "no" : seen === undefined || isHidden ? "unknown" : "yes";
      expect(wordOf(firstIn(...lists).contains())).toBe(expected);
    }),
  );
});

test("what is asked of an item gets the item alone", () => {
  const given = new Set<number>();
  const note = (...all: readonly unknown[]) => given.add(all.length).size;
  const say = (...all: readonly unknown[]) => `${note(...all)}`;
  const isSo = (...all: readonly unknown[]) => note(...all) > 0;
  const list = listOf([1, 2], false);
  const groups = list.grouped(say).map((one) => [one.joined(say), one.named(say), one.counted("one", note)]);
  list.orElse(note).with(list.map(note)).with(list.flatMap(note)).filter(isSo).contains(isSo);
  list.by(say)("").with(list.map(note));
  list.sorted(say).map(note).flatMap(note).filter(isSo);
  expect([itemsOf(groups).length, ...given]).toEqual([1, 1]);
});

test("an item of which the answer is unknown is left out, and its gap stays", () => {
  const list = listOf([1, 2], true).filter((item) => (item === 1 ? true : truths.unknown));
  expect(itemsOf(list)).toEqual([1]);
  expect(wholeIn(list)).toBe(GAP);
  expect(wordOf(listOf([1], true).contains(() => truths.unknown))).toBe("unknown");
});

test("what is changed lacks what its lists lack", () => {
  const lists = [listOf([1, 2], true), undefined, [listOf([3], false)]];
  const changes = changed<number, number>(lists, (one) => (one === 2 ? undefined : one + 1));
  expect(saidIn<number>(changes)).toEqual([2, 4]);
  expect(wordOf(changes.contains((one) => one === 5))).toBe("unknown");
});

test("a reading lists every gap once", () => {
  const reading = startReading<"part">();
  reading.list([], [GAP]);
  reading.unread(GAP);
  expect(reading.gaps()).toEqual([GAP]);
});

test("a thing that was not read has no value, and whatever is asked of it is unknown", () => {
  const answersOf = (one: Seen<number>) => [
    tell(one({ seen: (value) => `${value}`, unread: (gap) => lacking([gap], gap.subject) })),
    wordOf(one.is((value) => value === 1)),
    itemsOf(one.map((value) => value + 1)),
    wholeIn(one.items((value) => [value, value])),
  ];
  expect(answersOf(looked(1))).toEqual(["1", "yes", [2], [1, 1]]);
  expect(answersOf(looked(2))).toEqual(["2", "no", [3], [2, 2]]);
  expect(answersOf(UNREAD)).toEqual(["/x", "unknown", [], GAP]);
  // What it depends on counts first.
  expect(answersOf(looked({ kind: "unread", gap: GAP }, 1))).toEqual(answersOf(UNREAD));
});

test("what is said only if the answer is yes; lists are whole only together", () => {
  const saidOf = (one: Truth) => open(ifYes(one, () => "said"));
  expect(saidOf(truths.yes)).toEqual({ items: ["said"], gaps: [] });
  expect(saidOf(truths.no)).toEqual({ items: [], gaps: [] });
  expect(saidOf(truths.unknown)).toEqual({ items: [], gaps: [GAP] });
  expect(wholeIn(listOf([1], true), listOf([2], true))).toEqual([1, 2]);
  expect(wholeIn(listOf([1], true), listOf([2], false))).toBe(GAP);
});

test("a finding says so where its text lacks something, and is not ok", () => {
  const saidOf = (say: typeof problem | typeof ok, isWhole: boolean, textOf: (all: Group<number>) => Text) =>
    saidIn<Verdict>(
      listOf([1, 2], isWhole)
        .together()
        .map((all) => say("x", textOf(all), "fix it")),
    ).map((one) => `${open(one).status}: ${open(one).text}`);
  const named = (all: Group<number>) => words`has ${all.named(String)}`;
  const both = (all: Group<number>) => words`has ${all.counted("one")}: ${all.joined(String)}`;
  expect([ok, problem].map((say) => saidOf(say, true, named))).toEqual([
    ["ok: has 1, 2"],
    ["problem: has 1, 2"],
  ]);
  expect([ok, problem].map((say) => saidOf(say, false, named))).toEqual([
    ["unknown: has 1, 2; not everything could be read"],
    ["problem: has 1, 2; not everything could be read"],
  ]);
  expect([ok, problem].map((say) => saidOf(say, false, both))).toEqual([
    ["unknown: has at least 2 ones: 1, 2"],
    ["problem: has at least 2 ones: 1, 2"],
  ]);
});

test("a group lacks only what may be of it", () => {
  const gapAt = (node?: string, set?: string): Gap => ({ ...GAP, known: { node, set } });
  const saidWith = (gap: Gap, sets: SeenList<string>) =>
    itemsOf(
      startReading()
        .list(["a", "b"], [gap])
        .grouped((one) => one, placedAt({ node: (one) => one, set: () => sets }))
        .map((all) => tell<string>(words`${all.first}: ${all.counted("one")}`)),
    );
  const [all, none] = [
    ["a: at least 1 one", "b: at least 1 one"],
    ["a: 1 one", "b: 1 one"],
  ];
  const sets = listOf([1], true).map(() => "s");
  expect(saidWith(gapAt(), sets)).toEqual(all);
  expect(saidWith(gapAt("a"), sets)).toEqual([all[0], none[1]]);
  expect(saidWith(gapAt("c"), sets)).toEqual(none);
  expect(saidWith(gapAt(undefined, "t"), sets)).toEqual(none);
  expect(saidWith(gapAt("b", "s"), sets)).toEqual([none[0], all[1]]);
  expect(
    saidWith(
      gapAt(undefined, "t"),
      listOf([1], false).map(() => "s"),
    ),
  ).toEqual(all);
});

test("what is unknown stays so beside problems that are warnings", () => {
  const said = softened([unknown("x", "x"), problem("x", "x", "x"), ok("x", "x")], "problem");
  expect(saidIn<Verdict>(said).map((one) => open(one).status)).toEqual(["unknown", "warning"]);
});

test("an error without an errno does not count as a file system's", () => {
  expect(whyOf(Object.assign(new Error("x"), { code: "EACCES" }))).toEqual({
    kind: "errno",
    errno: "EACCES",
  });
  expect(whyOf(new TypeError("x is not a function"))).toMatchObject({ kind: "fault" });
});

test("of what is said otherwise only what is unknown is left where the answer is unknown", () => {
  const say = () => [unknown("x", "x"), problem("y", "x", "x"), [skipped("z", "x", "x")], ok("x", "x")];
  const saidOf = (one: Truth) =>
    saidIn<Verdict>(one({ yes: () => undefined, ...otherwise(say) })).map((said) => open(said).status);
  expect(saidOf(truths.yes)).toEqual([]);
  expect(saidOf(truths.no)).toEqual(["unknown", "problem", "skipped", "ok"]);
  expect(saidOf(truths.unknown)).toEqual(["unknown", "unknown", "unknown"]);
  const row = toldOf({ name: "x" });
  expect(tell(truths.unknown({ yes: () => row, ...otherwise(() => row) }))).toEqual({ name: "x" });
});

test("a finding on nodes of which some may be missing says so once, and is not ok", () => {
  const nodesOf = (isWhole: boolean) => listOf([1], isWhole).map((one) => ({ node: `n${one}` }));
  const saidOf = (verdict: Verdict, isWhole: boolean) => {
    const { status, text, nodes } = open(also(verdict, { nodes: nodesOf(isWhole) }));
    return `${status}: ${text} on ${nodes}`;
  };
  const more = "; not everything could be read";
  expect(saidOf(problem("x", "x", "x"), true)).toBe("problem: x on n1");
  expect(saidOf(problem("x", "x", "x"), false)).toBe(`problem: x${more} on n1`);
  expect(saidOf(ok("x", "x"), false)).toBe(`unknown: x${more} on n1`);
  expect(saidOf(unknown("x", lacking([GAP], "x")), false)).toBe("unknown: x on n1");
});

test("what was withheld because of a gap that no finding reports is unknown, unless the report has worse", () => {
  const checkOf = (code: string, said: Verdicts) => check(code, "x", (_: { gaps: readonly Gap[] }) => said);
  const lack = checkOf("X2", [undefined, [truths.unknown({ yes: nothing, no: nothing, unknown: withheld })]]);
  const saidOf = (said: Verdicts, gaps: readonly Gap[]) =>
    findingsOfAll([lack, checkOf("X1", said)], { gaps }).map(
      (one) => `${one.code} ${one.status}: ${one.text}`,
    );
  expect(saidOf(ok("x", "x"), [])).toEqual(["X1 ok: x", "X2 unknown: could not be judged: EACCES"]);
  expect(saidOf(ok("x", "x"), [GAP])).toEqual(["X1 ok: x"]);
  expect(saidOf(problem("x", "x", "x"), [])).toEqual(["X1 problem: x"]);
  expect(saidOf(unknown("x", "x"), [])).toEqual(["X1 unknown: x"]);
});

test("what was not asked for is unknown to judges, and silent in reports", () => {
  const list = startReading().list([1], [beyond("part")]);
  const isTwo = list.contains((one) => one === 2);
  expect(wordOf(isTwo)).toBe("unknown");
  expect(wordOf(asFarAsAsked(list).contains((one) => one === 2))).toBe("no");
  expect(orNull(list, (all) => all)).toEqual([1]);
  const say = (): Verdicts => [unknown("x", "x"), [problem("y", "x", "x")]];
  expect(saidIn<Verdict>(isTwo({ yes: nothing, ...otherwise(say) }))).toEqual([]);
  expect(tell(isTwo({ yes: () => "yes", no: () => "no", unknown: (gaps) => lacking(gaps, "?") }))).toBe("?");
  const said = list.together().map((all) => ok("x", words`has ${all.counted("one")}: ${all.joined(String)}`));
  expect(saidIn<Verdict>(said).map((one) => open(one))).toMatchObject([
    { status: "ok", text: "has 1 one: 1" },
  ]);
  const check1 = check(
    "X1",
    "x",
    (_: { gaps: readonly Gap[] }): Verdicts => ifYes(isTwo, () => ok("x", "x")),
  );
  expect(findingsOfAll([check1], { gaps: [] })).toEqual([]);
});

test("what cannot be seen from here does not count as well", () => {
  const isBad = (...said: readonly Verdict[]) => trueOrNull(troublesIn(said).contains());
  expect([isBad(ok("a", "b")), isBad(skipped("a", "b", "c")), isBad(problem("a", "b", "c"))]).toEqual([
    ...[false, null, true],
  ]);
});
