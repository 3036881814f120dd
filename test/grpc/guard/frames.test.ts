import {
  type ChunkReader,
  createChunkConsumer,
  gatherHeaderBlock,
  readFrameHeader,
} from "../../../src/grpc/guard/frames";
import { CONTINUATION, DATA, END_HEADERS, frame, HEADERS, PADDED, PRIORITY } from "../wire";

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
  take(yield* bytes.exactly(0));
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
  ["exactly, in one chunk", ["abcdefgh"], exactly, " abc defgh "],
  ["exactly, cut elsewhere, with empty chunks between", ["ab", "", "cdef", "", "gh"], exactly, " abc defgh "],
  ["exactly, byte by byte", [..."abcdefgh"], exactly, " abc defgh "],
  ["exactly, with a part missing", ["abcdefg"], exactly, " abc"],
  ["some gives what is there", ["ab", "c", "def", "g"], some(3), "ab c def g"],
  ["some gives no more than asked for", ["ab", "c", "def", "g"], some(2), "ab c de f g"],
  ["passOn hands slices on as they come, and no more", ["ab", "cdef", "gh"], passOn, "ab cde fgh"],
])("%s", (_what, chunks, protocol, expected) => {
  expect(collect(chunks, protocol)).toBe(expected);
});

test("bytes of one chunk are slices, not copies", () => {
  const pieces: Buffer[] = [];
  const write = createChunkConsumer(function* (bytes) {
    pieces.push(yield* bytes.exactly(10), yield* bytes.some(10));
    yield* bytes.passOn(80, (piece) => pieces.push(piece));
    pieces.push(yield* bytes.exactly(7));
  });
  const chunks = [Buffer.alloc(100), Buffer.alloc(7)];
  chunks.forEach(write);
  expect(pieces.map(({ length }) => length)).toEqual([10, 10, 80, 7]);
  expect(pieces.filter(({ buffer }) => !chunks.some((chunk) => chunk.buffer === buffer))).toEqual([]);
});

test("an error of the protocol is thrown, and later chunks are ignored", () => {
  const write = createChunkConsumer(function* (bytes) {
    yield* bytes.exactly(2);
    throw new Error("no more");
  });
  write(Buffer.from("a"));
  expect(() => write(Buffer.from("b"))).toThrow("no more");
  expect(() => write(Buffer.from("c"))).not.toThrow();
});

test("the bit that HTTP/2 reserves is no part of a stream's number", () => {
  const bytes = frame(DATA, 0, 3);
  bytes.writeUInt8(0x80, 5);
  const read: number[] = [];
  createChunkConsumer(function* (chunks) {
    read.push((yield* readFrameHeader(chunks, 0)).streamId);
  })(bytes);
  expect(read).toEqual([3]);
});

/** The header block in these frames, and what is passed on if each of its bytes is made an x. */
function gather(frames: readonly Buffer[]): readonly string[] {
  const gathered: string[] = [];
  const write = createChunkConsumer(function* (bytes) {
    const passed = yield* gatherHeaderBlock(bytes, yield* readFrameHeader(bytes, 65_536), (block) => {
      gathered.push(block.toString());
      block.fill("x");
    });
    gathered.push(Buffer.concat(passed).toString());
  });
  frames.forEach(write);
  return gathered;
}
const headers = (flags: number, text: string) => frame(HEADERS, flags, 1, Buffer.from(text));
const more = (flags: number, text = "", stream = 1) => frame(CONTINUATION, flags, stream, Buffer.from(text));
const LONG = "a".repeat(65_536);

test.each<[string, readonly Buffer[], block: string]>([
  ["a whole one", [headers(END_HEADERS, "abc")], "abc"],
  ["one of 64 KiB", [headers(END_HEADERS, LONG)], LONG],
  ["padding", [headers(END_HEADERS | PADDED, "\x02abc..")], "abc"],
  ["padding alone", [headers(END_HEADERS | PADDED, "\x02..")], ""],
  ["priority", [headers(END_HEADERS | PRIORITY, ".....abc")], "abc"],
  ["8 more frames", [headers(0, ""), ...Array(7).fill(more(PADDED)), more(END_HEADERS, "abc")], "abc"],
  ["parts", [headers(0, "ab"), more(PADDED, "cd"), more(END_HEADERS, "e")], "abcde"],
])("a header block is gathered: %s", (_what, frames, block) => {
  expect(gather(frames)).toEqual([block, Buffer.concat(frames).toString().replace(/[a-e]/g, "x")]);
});

test.each<[string, readonly Buffer[]]>([
  ["a frame of 65537 bytes, over 65536", [headers(END_HEADERS, `${LONG}a`)]],
  ["a header block of more than 65536 bytes", [headers(0, LONG), more(END_HEADERS, "a")]],
  ["more than 8 CONTINUATION frames", [headers(0, ""), ...Array(9).fill(more(0))]],
  ["a frame of type 9 inside a header block", [headers(0, ""), more(END_HEADERS, "", 3)]],
  ["a frame of type 0 inside a header block", [headers(0, ""), frame(DATA, END_HEADERS, 1)]],
  ["a HEADERS frame too short for its padding or priority", [headers(END_HEADERS | PADDED, "\x03..")]],
])("is refused: %s", (reason, frames) => {
  expect(() => gather(frames)).toThrow(expect.objectContaining({ code: "PROTOCOL", message: reason }));
});
