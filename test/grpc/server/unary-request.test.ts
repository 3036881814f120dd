import { createUnaryRequest, withMessagePrefix } from "../../../src/grpc/server/unary-request";
import { bytesOf } from "../wire";

const MAX_BYTES = 4;

/** What comes of a call whose DATA frames hold these bytes, cut at each place in turn. */
function send(hex: string): readonly unknown[] {
  const bytes = bytesOf(hex);
  return Array.from({ length: bytes.length }, (_, at) => {
    const request = createUnaryRequest(MAX_BYTES);
    try {
      for (const piece of [bytes.subarray(0, at), bytes.subarray(at)]) {
        const failure = request.content(piece);
        if (failure) return failure.code;
      }
      const end = request.end();
      return Buffer.isBuffer(end) ? end.toString("latin1") : end.code;
    } catch (error) {
      return error;
    }
  });
}

test.each([
  ["an empty message", "00 00000000", ""],
  ["a message", "00 00000003 616263", "abc"],
  ["a message of just the bound", "00 00000004 61626364", "abcd"],
  ["a compressed one: UNIMPLEMENTED", "01 00000003 616263", 12],
  ["one that says it is too long: RESOURCE_EXHAUSTED", "00 00000005", 8],
  ["one that says it has 4 GB: RESOURCE_EXHAUSTED", "00 ffffffff 61", 8],
  ["one whose rest has not come: UNIMPLEMENTED", "00 00000004 61", 12],
  ["a prefix whose rest has not come: UNIMPLEMENTED", "00 0000", 12],
])("%s", (_name, hex, outcome) => {
  for (const one of send(hex)) expect(one).toBe(outcome);
});

test.each([
  ["two empty messages", "00 00000000 00 00000000"],
  ["a message and the first byte of the next", "00 00000003 616263 00"],
])("%s are refused", (_name, hex) => {
  const refusal = expect.objectContaining({ code: "PROTOCOL", message: "a call of more than one message" });
  for (const outcome of send(hex)) expect(outcome).toEqual(refusal);
});

test("a message gets its length before it", () => {
  expect(withMessagePrefix(Buffer.from("abc")).toString("hex")).toBe("0000000003616263");
});

test("DATA of a message and 64 kB of padding is taken, and a byte more is refused", () => {
  const request = createUnaryRequest(MAX_BYTES);
  request.frame(MAX_BYTES);
  request.frame(65_536);
  expect(() => request.frame(1)).toThrow("more DATA in a call than its window takes");
});

test("only the bytes of a message are kept, not the chunks that they came in", () => {
  const request = createUnaryRequest(100);
  const chunk = Buffer.alloc(65_536);
  chunk.write("\0\0\0\0\x02ab", 0, "latin1");
  request.content(chunk.subarray(0, 6));
  expect(request.bytes()).toBe(1);
  request.content(chunk.subarray(6, 7));
  expect(request.bytes()).toBe(2);
  expect((request.end() as Buffer).toString()).toBe("ab");
});

test("the pieces of a message that comes byte by byte are kept together", () => {
  const length = 60_000;
  const message = Buffer.from(Array.from({ length }, (_, index) => index % 251));
  const request = createUnaryRequest(length);
  request.content(withMessagePrefix(message).subarray(0, 5));
  const before = process.memoryUsage().arrayBuffers;
  for (let at = 0; at < length; at++) request.content(message.subarray(at, at + 1));
  expect((request.end() as Buffer).equals(message)).toBe(true);
  // Once in blocks, once whole.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2.5 * length);
});
