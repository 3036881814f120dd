import { readYaml, writeYaml } from "../../src/kube-api/yaml";

// test/kubelet/yaml.test.ts compares with kubectl's own reader.

test.each<readonly [yaml: string, object: unknown]>([
  ["[yes, No, on, OFF, y, n, true]", [true, false, true, false, true, false, true]],
  ["['yes', yeS, e2, ., 1:30, 2001-01-01, 0o8]", ["yes", "yeS", "e2", ".", "1:30", "2001-01-01", "0o8"]],
  ["[0644, -0644, 0o17, 08, 0x1f, 0b11, 1_000, +5, 1.5, 1e3]", [420, -420, 15, 8, 31, 3, 1000, 5, 1.5, 1000]],
  ["[-0x8000000000000000, -0x8000000000000001]", [-(2 ** 63), "-0x8000000000000001"]],
  ["[~, null, Null, NULL, ]", [null, null, null, null]],
  ["{a: 1, b: 2, a: 3}", { a: 3, b: 2 }],
  ["x: &x {a: 1, b: 2}\nz:\n  <<: *x\n  b: 3", { x: { a: 1, b: 2 }, z: { a: 1, b: 3 } }],
  ["x: &x {a: 1, b: 2}\nz:\n  b: 3\n  <<: *x", { x: { a: 1, b: 2 }, z: { a: 1, b: 2 } }],
  ["x: &x {a: 1}\nz:\n  <<: [*x, {a: 2, b: 2}]", { x: { a: 1 }, z: { a: 1, b: 2 } }],
  ["{<<: {a: 1}, <<: {a: 2}, b: <<, c: [<<]}", { a: 2, b: "<<", c: ["<<"] }],
  ["y: 1", { true: 1 }],
  ["a: 'b\nc'\nd: !x e\nf: !!binary aGk=\ng: !!str 1", { a: "b c", d: "e", f: "hi", g: "1" }],
  [`a: &a [1]\nb: [${"*a,".repeat(1_000)}]`, { a: [1], b: Array(1_000).fill([1]) }],
  ["a:\n- --a={{ .X }}\n- '{{ .Y }}'", { a: ["--a={{ .X }}", "{{ .Y }}"] }],
])("%s", (yaml, object) => {
  expect(readYaml(yaml)).toEqual(object);
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
