import { createUnaryRequest } from "../../src/grpc/unary-request";
import { bytesOf } from "./wire";

/** What becomes of a call whose DATA frames hold these bytes, cut at each place in turn. */
function send(hex: string): readonly unknown[] {
  const bytes = bytesOf(hex);
  return Array.from({ length: bytes.length }, (_, at) => {
    const request = createUnaryRequest();
    try {
      for (const piece of [bytes.subarray(0, at), bytes.subarray(at)]) request.content(piece);
      return "taken";
    } catch (error) {
      return error;
    }
  });
}

test.each([
  ["an empty message", "00 00000000"],
  ["a message", "00 00000003 616263"],
  ["a compressed one", "01 00000003 616263"],
  ["one whose rest has not come", "00 00000009 61"],
  ["a prefix whose rest has not come", "00 0000"],
  ["one that says it has 4 GB", "00 ffffffff 61"],
])("%s is taken", (_name, hex) => {
  expect(new Set(send(hex))).toEqual(new Set(["taken"]));
});

test.each([
  ["two empty messages", "00 00000000 00 00000000"],
  ["a message and the first byte of the next", "00 00000003 616263 00"],
])("%s is refused", (_name, hex) => {
  const refusal = expect.objectContaining({ code: "PROTOCOL", message: "a call of more than one message" });
  for (const outcome of send(hex)) expect(outcome).toEqual(refusal);
});

test("64 frames are taken, and one more is refused", () => {
  const request = createUnaryRequest();
  for (let count = 0; count < 64; count++) request.frame();
  expect(() => request.frame()).toThrow("a call of more than 64 DATA frames");
});
