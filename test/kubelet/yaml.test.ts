import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { attempt } from "../../src/base/errors";
import { readYaml, writeYaml } from "../../src/kube-api/yaml";
import { documentsIn, readDocument } from "../../src/tools/doctor/files/read/documents";
import { fencesIn, filesBelow, readText } from "../docs/markdown";
import { allTests } from "../support/each-test";
import { propertyTest } from "../support/fuzz";
import { startGo } from "./support/values";
import { STREAMS, WORDS } from "./yaml-texts";

const go = allTests(startGo);

/** Our objects in a stream, and how many of its documents are not read. */
function ours(text: string) {
  const read = documentsIn(text).map((document) => attempt(() => readDocument(document)));
  const objects = read.filter((one) => one !== undefined);
  // One that holds itself has no JSON: the doctor says so of each object.
  const json = attempt(() => JSON.stringify(objects.filter((one) => one !== null)));
  return { objects: JSON.parse(json ?? "[]"), isAll: json !== undefined && objects.length === read.length };
}

/** Texts that only one of the two reads, and those that they read otherwise. */
async function compare(texts: readonly string[]) {
  const found: Record<"onlyOurs" | "onlyTheirs" | "otherwise", string[]> = {
    ...{ onlyOurs: [], onlyTheirs: [], otherwise: [] },
  };
  for (const text of texts) {
    const { objects, isAll } = ours(text);
    const { error, objects: theirs = [] } = await go.ask({ yaml: text });
    if (isAll && error !== undefined) found.onlyOurs.push(text);
    else if (!isAll && error === undefined) found.onlyTheirs.push(text);
    else if (isAll && !isDeepStrictEqual(objects, theirs)) found.otherwise.push(text);
  }
  return found;
}

const REAL = [
  ...filesBelow("examples", ".yaml").map(readText),
  ...filesBelow("docs", ".md").flatMap((page) => fencesIn(readText(page), "yaml")),
];

const NONE = { onlyOurs: [], onlyTheirs: [], otherwise: [] };
const streams = (...starts: readonly string[]) =>
  starts.map((start) => STREAMS.find((text) => text.startsWith(start)) ?? start);

/** No object of Kubernetes has such keys or words. Aliases of aliases cost nothing. */
const ONLY_OURS = [
  ...['a: "\\/ \\0 \\e \\_"\n', "? [a, b]\n: 1\n", "[a, b]: 1\n", "null: 1\n", "[object Object]: 1\n"],
  ...["a: x\u0085y\n", "a: x\u2028y\n", ...streams("a0: &a0")],
];
/** The doctor says that it has not read them. Of the second row kubectl takes a part, or goes deeper. */
const ONLY_THEIRS = [
  ...["- 1\n- 2\n", "hello\n", "1\n", "'x'\n", "[]\n", ...streams("[[[")],
  ...["a: 1\n...\nb: 2\n", "a: 1\n... x\n", ...streams("a: {b: {b")],
];

test(`${STREAMS.length} generated streams are read as kubectl reads them, or refused`, async () => {
  const { onlyOurs, onlyTheirs, otherwise } = await compare(STREAMS);
  expect(onlyOurs).toEqual(STREAMS.filter((text) => ONLY_OURS.includes(text)));
  expect(onlyTheirs).toEqual(STREAMS.filter((text) => ONLY_THEIRS.includes(text)));
  // An empty text to kubectl, and null to us.
  expect(otherwise).toEqual(["a: !\n"]);
});

test(`${REAL.length} examples are read as kubectl reads them`, async () => {
  expect(REAL.length).toBeGreaterThan(10);
  expect(await compare(REAL)).toEqual(NONE);
});

test(`${WORDS.length} plain words mean what they mean to kubectl, in a map and in a list`, async () => {
  const texts = WORDS.flatMap((word) => [`x: ${word}\n`, `x:\n- ${word}\n`]);
  expect(await compare(texts)).toEqual(NONE);
});

/** To kubectl null is no key, and JavaScript has no number that is as long. */
const NOT_AS_KEYS = /^(?:~|null|Null|NULL|1_0e1_0|[-+]?\d{16,}|0xf{16})$/;
test("these words mean the same as keys", async () => {
  const keys = WORDS.filter((word) => !NOT_AS_KEYS.test(word)).map((word) => `${word}: 1\n`);
  expect(await compare(keys)).toEqual(NONE);
});

const word = fc.oneof(
  fc.constantFrom(...WORDS),
  fc
    .array(fc.constantFrom(...": # - _ . + 0 1 e x ' \" \n { [ , & * ! y".split(" "), " ", "\n"))
    .map((some) => some.join("")),
);
propertyTest(
  "kubectl reads what we write unchanged",
  {
    runs: 500,
    given: fc.record({
      a: word,
      b: fc.array(word, { maxLength: 3 }),
      c: fc.dictionary(word, fc.boolean()),
    }),
  },
  async (object) => {
    const text = writeYaml(object);
    expect(readYaml(text)).toEqual(object);
    expect((await go.ask({ yaml: text })).objects).toEqual([object]);
  },
);
