import { type ChunkReader, createChunkConsumer } from "../../../src/grpc/guard/frames";

/** Collects what a protocol reads out of these chunks. */
function collect(
  chunks: readonly string[],
  protocol: (bytes: ChunkReader, take: (piece: Buffer) => void) => Generator<void, void, void>,
): string[] {
  const read: string[] = [];
  const write = createChunkConsumer((bytes) => protocol(bytes, (piece) => read.push(piece.toString())));
  for (const chunk of chunks) write(Buffer.from(chunk));
  return read;
}

test.each([
  ["in one chunk", ["abcdefgh"], ["abc", "defgh"]],
  ["cut at the border", ["abc", "defgh"], ["abc", "defgh"]],
  ["cut elsewhere, with empty chunks between", ["ab", "", "cdef", "", "gh"], ["abc", "defgh"]],
  ["byte by byte", [..."abcdefgh"], ["abc", "defgh"]],
  ["with a part missing", ["abcdefg"], ["abc"]],
])("exactly: %s", (_name, chunks, expected) => {
  expect(
    collect(chunks, function* (bytes, take) {
      take(yield* bytes.exactly(3));
      take(yield* bytes.exactly(5));
    }),
  ).toEqual(expected);
});

test.each([
  ["some gives what is there", 3, ["ab", "c", "def", "g"]],
  ["some gives no more than asked for", 2, ["ab", "c", "de", "f", "g"]],
])("%s", (_name, most, expected) => {
  expect(
    collect(["ab", "c", "def", "g"], function* (bytes, take) {
      for (;;) take(yield* bytes.some(most));
    }),
  ).toEqual(expected);
});

test("passOn hands slices on as they come and stops after the last of them", () => {
  expect(
    collect(["ab", "cdef", "gh"], function* (bytes, take) {
      yield* bytes.passOn(0, take);
      yield* bytes.passOn(5, take);
      take(yield* bytes.exactly(3));
    }),
  ).toEqual(["ab", "cde", "fgh"]);
});

test("slices where one chunk holds them, no copies", () => {
  const pieces: Buffer[] = [];
  const write = createChunkConsumer(function* (bytes) {
    pieces.push(yield* bytes.exactly(10));
    pieces.push(yield* bytes.some(10));
    yield* bytes.passOn(80, (piece) => pieces.push(piece));
    pieces.push(yield* bytes.exactly(10));
  });
  const chunks = [Buffer.alloc(100), Buffer.alloc(10)];
  for (const chunk of chunks) write(chunk);
  expect(pieces.map(({ buffer }) => chunks.findIndex((chunk) => chunk.buffer === buffer))).toEqual([
    0, 0, 0, 1,
  ]);
  expect(pieces.map(({ length }) => length)).toEqual([10, 10, 80, 10]);
});

test("no bytes are there at once, before the first chunk and after the last", () => {
  expect(
    collect(["x"], function* (bytes, take) {
      take(yield* bytes.exactly(0));
      take(yield* bytes.exactly(1));
      take(yield* bytes.exactly(0));
    }),
  ).toEqual(["", "x", ""]);
});

test("what the protocol throws comes out, and later chunks are ignored", () => {
  const write = createChunkConsumer(function* (bytes) {
    yield* bytes.exactly(2);
    throw new Error("no more");
  });
  write(Buffer.from("a"));
  expect(() => write(Buffer.from("b"))).toThrow("no more");
  expect(() => write(Buffer.from("c"))).not.toThrow();
});
