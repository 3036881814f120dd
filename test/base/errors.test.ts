import { inspect } from "node:util";
import { attempt, errnoOf, invalidOption, messageOf, refuse, systemError } from "../../src/base/errors";

const broken = new Error("broken");

test.each<[thrown: unknown, text: string]>([
  [broken, "broken"],
  [{ message: "of another sandbox" }, "of another sandbox"],
  ["a text", "a text"],
  [undefined, "undefined"],
  [null, "null"],
  [{ message: 5 }, "[object Object]"],
  [new Error(""), ""],
  // As Node throws where it tried several addresses.
  [new AggregateError([broken, "b"]), "broken; b"],
  [new AggregateError([broken], "all failed"), "all failed"],
])("the text of %p is %j", (thrown, text) => {
  expect(messageOf(thrown)).toBe(text);
});

test.each<[error: unknown, errno: string | undefined]>([
  [systemError("ENOENT"), "ENOENT"],
  [{ code: "E2BIG" }, "E2BIG"],
  // Node's own codes are no errnos.
  ...["ERR_OUT_OF_RANGE", "ABORT_ERR", "ENOENT:", "E", "xENOENT", 5].map((code): [unknown, undefined] => [
    { code },
    undefined,
  ]),
  [{ code: Object.create(null) }, undefined],
  [broken, undefined],
  [undefined, undefined],
  [{ code: "Unknown system error -116" }, "ESTALE"],
  [{ code: "Unknown system error -117" }, "errno 117"],
  ...["an Unknown system error -116", "Unknown system error -116 or so", "Unknown system error -x"].map(
    (code): [unknown, undefined] => [{ code }, undefined],
  ),
])("the errno of %j is %s", (error, errno) => {
  expect(errnoOf(error)).toBe(errno);
});

test("an invalid option says its code, and shows a cause only where there is one", () => {
  expect(invalidOption("why")).toMatchObject({
    name: "RegistrarError",
    code: "INVALID_OPTION",
    message: "why",
  });
  expect(invalidOption("why", { cause: broken }).cause).toBe(broken);
  for (const options of [undefined, {}, { cause: undefined }])
    expect(inspect(invalidOption("why", options))).not.toContain("cause");
  expect(() => refuse("no")).toThrow(invalidOption("no"));
});

test("an attempt gives what the function returns, and undefined where it throws", () => {
  expect([attempt(() => 0), attempt(() => refuse("no"))]).toEqual([0, undefined]);
  expect(systemError("EIO")).toMatchObject({ code: "EIO", message: "EIO" });
  expect(systemError("EIO", "read failed")).toMatchObject({ code: "EIO", message: "read failed" });
});
