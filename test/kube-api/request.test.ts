import * as fc from "fast-check";
import { parseJson } from "../../src/kube-api/request";
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

propertyTest("JSON is parsed as it is written", { runs: 500, given: fc.jsonValue() }, async (value) => {
  expect(parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
});
