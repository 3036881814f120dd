import { Readable } from "node:stream";
import * as fc from "fast-check";
import { MAX_JSON_BYTES, parseJson, readJsonLines } from "../../src/kube-api/request";
import { propertyTest } from "../support/fuzz";

const parse = (text: string) => parseJson(Buffer.from(text));

test("brackets in strings do not count as arrays or objects, whatever is escaped beside them", () => {
  for (const piece of ["[", "{", '["', '\\"[', "\\\\{", '"\\']) {
    const value = { [piece]: piece.repeat(50_001) };
    expect(parse(JSON.stringify(value))).toEqual(value);
  }
  const arrays = (count: number) => `{"\\"":[${Array.from({ length: count }, () => "[]").join()}]}`;
  expect(parse(arrays(49_998))).toBeDefined();
  expect(() => parse(arrays(49_999))).toThrow("more than 50000 arrays and objects");
});

test("a watch may send any number of lines, cut anywhere: only each one is bounded", async () => {
  const read = (text: string) => {
    const chunks = Array.from(text.match(/.{1,900000}/gs) ?? [], (chunk) => Buffer.from(chunk));
    return Readable.from(readJsonLines(Readable.from(chunks))).toArray();
  };
  const half = JSON.stringify("x".repeat(MAX_JSON_BYTES / 2));
  expect(await read(`${half}\n`.repeat(5))).toHaveLength(5);
  await expect(read(half.repeat(2))).rejects.toThrow("a line of the answer has more");
});

propertyTest("JSON is parsed as it is written", { runs: 500, given: fc.jsonValue() }, async (value) => {
  expect(parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
});
