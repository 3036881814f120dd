import * as fc from "fast-check";
import { attempt } from "../../src/base/errors";
import { parseWords } from "../../src/flags/grammar";
import { parseBool, parseDurationMs, parseInt64, parseQuantity } from "../../src/flags/values";
import { invalidCsiNodeDriver, invalidLabels } from "../../src/kubelet-rules/api-refusals";
import { hintForRefusal } from "../../src/registrar/registration/hints";
import { allTests } from "../support/each-test";
import { propertyTest } from "../support/fuzz";
import { type Answer, startGo } from "./support/values";
import { kubeletVersions } from "./support/versions";

const go = allTests(startGo);

const FLAGS = new Map([
  ["s", { parse: String }],
  ["b", { parse: parseBool, bare: "true" }],
  ["i", { parse: parseInt64 }],
  ["d", { parse: parseDurationMs }],
]);

function ours(words: readonly string[]): Answer {
  const read = parseWords(words, FLAGS);
  if (read.kind === "help") return { help: true };
  if (read.kind === "error") return { error: read.message };
  const flags = Object.fromEntries(read.settings.map(({ name, value }) => [name, value]));
  return { flags, rest: read.rest };
}

/** Texts of up to five pieces, which are the words of this one. */
const pieces = (words: string, ...more: readonly string[]) =>
  fc.array(fc.constantFrom(...words.split(" "), ...more), { maxLength: 5 }).map((some) => some.join(""));
const number = pieces("0 1 9 _ x b o - + . e 7f 9223372036854775807");
const duration = pieces("0 1 90 . - + 5 h m s ms us \u00b5s ns 2562047h d");
const word = fc.oneof(
  pieces('- -- = s b i d h help true \u00e9 "', " ", "\t"),
  fc
    .tuple(fc.constantFrom("-", "--"), fc.constantFrom("i", "s", "b"), number)
    .map(([dash, name, text]) => `${dash}${name}=${text}`),
  duration.map((text) => `-d=${text}`),
  fc.constantFrom("T", "FALSE", "f", "x", "", "-", "--", "-1"),
);

propertyTest(
  "flags are read as by Go's package flag, with its errors",
  { runs: 3_000, given: fc.array(word, { maxLength: 4 }) },
  async (words): Promise<void> => {
    const { rest = [], flags, ...told } = await go.ask({ words });
    const { rest: ownRest = [], flags: ownFlags, ...own } = ours(words);
    // Go stops at the digit or at the letter, whichever comes first; we look at the letters first.
    if (told.error?.endsWith("value out of range")) return expect(own.error).toMatch(/^invalid value /);
    expect({ ...own, flags: ownFlags ?? {}, rest: ownRest }).toEqual({ ...told, flags: flags ?? {}, rest });
  },
);

/** Without a digit apimachinery takes some suffixes and not others: `Ki` is 0, `Ei` an error. */
const quantity = pieces("0 1 12 . - + k Ki M Mi n u m E Ei e e3 E-2 x", " ").filter(
  (text) => !/^[+-]?\.?[A-Za-z]/.test(text),
);

propertyTest(
  "a quantity is taken or refused as by apimachinery",
  { runs: 2_000, given: quantity },
  async (text) => {
    const { error } = await go.ask({ quantity: text });
    const failure = attempt(() => parseQuantity(text)) === undefined;
    expect(failure).toBe(error !== undefined);
  },
);

const long = (length: number) => fc.constant("n".repeat(length));
const name = fc.oneof(
  pieces("a b9 . - _ / A \u00e9 x.y example.com/", " "),
  fc.constantFrom(63, 64, 253).chain(long),
);

propertyTest(
  "a label of a Node is refused in the API server's words",
  { runs: 2_000, given: fc.tuple(name, name) },
  async ([key, value]) => {
    const labels = { [key]: value };
    expect(invalidLabels("n", labels)).toBe((await go.ask({ labels })).error);
  },
);

propertyTest(
  "a driver in CSINode is refused in the API server's words",
  { runs: 2_000, given: fc.tuple(name, fc.oneof(name, fc.constantFrom(256, 257).chain(long))) },
  async ([driverName, nodeId]) => {
    const before = [{ name: "first.csi.example.com", nodeId: "1" }];
    const driver = { name: driverName, nodeId };
    const { error } = await go.ask({ drivers: [...before, driver], before });
    expect(invalidCsiNodeDriver("n", driver, 1)).toBe(error);
  },
);

const [NAME, NODE_INFO] = ["comes from its GetPluginInfo", "a value of the driver's NodeGetInfo"];
const driver = { name: "x.csi", nodeId: "1" };

test.each(kubeletVersions())("the API server's refusal of %s has its hint", async (version) => {
  await using asked = await startGo(version);
  const hintFor = async (question: object) => {
    const { error } = await asked.ask(question);
    return hintForRefusal(`error updating CSINode object with CSI driver node info: ${error}`, "/csi.sock");
  };
  for (const one of ["x_y", "", "n".repeat(64)])
    expect(await hintFor({ drivers: [{ ...driver, name: one }] })).toContain(NAME);
  expect(await hintFor({ drivers: [driver, driver] })).toContain(NAME);
  for (const change of [{ nodeId: "" }, { nodeId: "n".repeat(257) }, { topologyKeys: ["a b"] }])
    expect(await hintFor({ drivers: [{ ...driver, ...change }] })).toContain(NODE_INFO);
  expect(await hintFor({ labels: { "a b": "c d" } })).toContain(NODE_INFO);
  const before = [{ ...driver, nodeId: "2" }];
  expect(await hintFor({ drivers: [driver], before })).toContain("had another node ID");
});
