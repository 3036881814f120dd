import { messageOf } from "../../src/base/errors";
import { readYaml, secondKeyIn, writeYaml } from "../../src/kube-api/yaml";

// test/kubelet/yaml.test.ts compares with kubectl's own reader.

test.each<readonly [yaml: string, object: unknown]>([
  ["{a: 1, b: 2, a: 3}", { a: 3, b: 2 }],
  ["x: &x {a: 1, b: 2}\nz:\n  <<: *x\n  b: 3", { x: { a: 1, b: 2 }, z: { a: 1, b: 3 } }],
  ["x: &x {a: 1, b: 2}\nz:\n  b: 3\n  <<: *x", { x: { a: 1, b: 2 }, z: { a: 1, b: 2 } }],
  ["x: &x {a: 1}\nz:\n  <<: [*x, {a: 2, b: 2}]", { x: { a: 1 }, z: { a: 1, b: 2 } }],
  ["{<<: {a: 1}, <<: {a: 2}, b: <<, c: [<<]}", { a: 2, b: "<<", c: ["<<"] }],
  ["y: 1", { true: 1 }],
  [
    "a: 'b\nc'\nd: !x e\nf: !!binary aGk=\ng: !!str 1\nh: !!bool yes",
    { a: "b c", d: "e", f: "hi", g: "1", h: true },
  ],
  [`a: &a [1]\nb: [${"*a,".repeat(1_000)}]`, { a: [1], b: Array(1_000).fill([1]) }],
  ["a:\n- --a={{ .X }}\n- '{{ .Y }}'", { a: ["--a={{ .X }}", "{{ .Y }}"] }],
])("%s", (yaml, object) => {
  expect(readYaml(yaml)).toEqual(object);
});

const WORDS = [
  "~ null Null NULL nUll y Y n N yes Yes YES yeS no on Off OFF oFF true True TRUE tRue false << = e2",
  "0 00 0644 -0644 08 0o17 0O17 0o8 0x1f 0X1F 0xg 0b11 0B1 0b2 1 12 123 +5 -5 -0 +0x1f -0b1 --5 +-5",
  "1_000 _1 1_ 1__0 0x_f 1_0.5 .1_0 ._1 .1_ 1_. . + .5 .55 -.5 +.5 1. 1.5 1.55 00.1 1.5.5 x1.5 1.5x 1,5",
  "1e3 1E3 1e+3 1e-3 12e03 1e1000 .5e1 1.e3 1e 1ex .inf -.inf +.Inf .INF .infx x.inf x.Inf .nan .NaN -.nan .nanx",
  "18446744073709551615 18446744073709551616 -9223372036854775808 -9223372036854775809 9007199254740993",
  "-0x8000000000000000 -0x8000000000000001 +0x8000000000000000 0xffffffffffffffff 1:30 2001-01-01 2001-01-01T00:00:00Z 'yes' \"1\"",
].join(" ");

test("what each word is read as", () => {
  const outcomeOf = (word: string) => {
    try {
      return JSON.stringify((readYaml(`a: ${word}`) as { readonly a: unknown }).a);
    } catch (error) {
      return `refused: ${messageOf(error)}`;
    }
  };
  const lines = WORDS.split(" ").map((word) => `${word} ${outcomeOf(word)}`);
  expect(["", ...lines, ""].join("\n")).toMatchSnapshot();
});

test.each<[yaml: string, line: number | undefined]>([
  ["a: 1\nb: 2\na: 3", 13],
  ["- a: {b: 1}\n- a:\n    b: 1\n    b: 2", 14],
  ["a: 1\nb: {a: 1}", undefined],
  ["a: 1\nb: [", undefined],
])("of %j the first key that occurs twice is in line %s", (yaml, line) => {
  expect(secondKeyIn(yaml, 11)).toBe(line);
  expect(secondKeyIn(yaml)).toBe(line && line - 10);
});

test("a key such as __proto__ is an ordinary key", () => {
  const object = readYaml("m: &m {__proto__: 1}\no: {<<: *m}") as Readonly<Record<"m" | "o", object>>;
  expect([object.m, object.o].map((one) => Object.entries(one))).toEqual([
    [["__proto__", 1]],
    [["__proto__", 1]],
  ]);
});

const lines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join("\n");
const MANY_KEYS = `m: &m\n${lines(2_000, (n) => `  k${n}: 1`)}\n${lines(60, (n) => `o${n}: {<<: *m}`)}`;

test.each([
  ["an open quote", "a: b\nc: 'd\ne", /, line 14$/],
  ["an open list", "a: [", /, line 12$/],
  ["infinity", "a: .inf", /^\.inf is not a number of JSON$/],
  ["a merged number", "{<<: 1}", /^a merge \(<<\) takes other maps$/],
  ["a map merged into itself", "a: &a {<<: *a}", /^a merge \(<<\) takes other maps$/],
  ["a map as a key", "a:\n  ? {a: b}\n  : c", /^a map is no key$/],
  ["a Go template", "a: {{ .X }}", /^a map is no key$/],
  ["120,000 merged keys", MANY_KEYS, /^it merges more than 100,000 keys$/],
  ["100,000 open lists", "[".repeat(100_000), /^nesting exceeded maxDepth \(1000\), line 11$/],
])("%s cannot be read", (_what, yaml, message) => {
  expect(() => readYaml(yaml, 11)).toThrow(message);
});

test("merges of merges stay within the limit of keys", () => {
  const text = lines(45, (n) => `${n}: &${n} {${n ? `<<: [*${n - 1},*${n - 1}]` : "a: b"}}`);
  expect(readYaml(text)).toHaveProperty("44", { a: "b" });
});

test("texts that YAML 1.1 reads as another type are quoted", () => {
  const object = { mode: "0644", on: "yes", n: "1_000", x: "<<", z: "~", t: "a\nb", f: 1.5, l: [true, null] };
  const text = writeYaml(object);
  expect(text).toMatch(/^mode: "0644"\n"on": "yes"$/m);
  expect(readYaml(text)).toEqual(object);
});
