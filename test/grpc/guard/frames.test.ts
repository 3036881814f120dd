import { type ChunkReader, createChunkConsumer } from "../../../src/grpc/guard/frames";

type Protocol = (bytes: ChunkReader, take: (piece: Buffer) => void) => Generator<void, void, void>;

function collect(chunks: readonly string[], protocol: Protocol): string {
  const read: string[] = [];
  const write = createChunkConsumer((bytes) => protocol(bytes, (piece) => read.push(piece.toString())));
  for (const chunk of chunks) write(Buffer.from(chunk));
  return read.join(" ");
}

const exactly: Protocol = function* (bytes, take) {
  take(yield* bytes.exactly(0));
  take(yield* bytes.exactly(3));
  take(yield* bytes.exactly(5));
};
const some = (most: number): Protocol =>
  function* (bytes, take) {
    for (;;) take(yield* bytes.some(most));
  };
const passOn: Protocol = function* (bytes, take) {
  yield* bytes.passOn(0, take);
  yield* bytes.passOn(5, take);
  take(yield* bytes.exactly(3));
};

test.each<[string, readonly string[], Protocol, string]>([
  ["exactly, in one chunk", ["abcdefgh"], exactly, " abc defgh"],
  ["exactly, cut elsewhere, with empty chunks between", ["ab", "", "cdef", "", "gh"], exactly, " abc defgh"],
  ["exactly, byte by byte", [..."abcdefgh"], exactly, " abc defgh"],
  ["exactly, with a part missing", ["abcdefg"], exactly, " abc"],
  ["some gives what is there", ["ab", "c", "def", "g"], some(3), "ab c def g"],
  ["some gives no more than asked for", ["ab", "c", "def", "g"], some(2), "ab c de f g"],
  ["passOn hands slices on as they come, and no more", ["ab", "cdef", "gh"], passOn, "ab cde fgh"],
])("%s", (_what, chunks, protocol, expected) => {
  expect(collect(chunks, protocol)).toBe(expected);
});

test("slices where one chunk holds them, no copies", () => {
  const pieces: Buffer[] = [];
  const write = createChunkConsumer(function* (bytes) {
    pieces.push(yield* bytes.exactly(10), yield* bytes.some(10));
    yield* bytes.passOn(80, (piece) => pieces.push(piece));
  });
  const chunk = Buffer.alloc(100);
  write(chunk);
  expect(pieces.map(({ length }) => length)).toEqual([10, 10, 80]);
  expect(pieces.filter(({ buffer }) => buffer !== chunk.buffer)).toEqual([]);
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
