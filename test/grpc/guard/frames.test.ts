import { constants } from "node:http2";
import {
  type ChunkReader,
  createChunkConsumer,
  gatherHeaderBlock,
  HTTP2_ERRORS,
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

test("slices where one chunk holds them, no copies", () => {
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

test("what the protocol throws comes out, and later chunks are ignored", () => {
  const write = createChunkConsumer(function* (bytes) {
    yield* bytes.exactly(2);
    throw new Error("no more");
  });
  write(Buffer.from("a"));
  expect(() => write(Buffer.from("b"))).toThrow("no more");
  expect(() => write(Buffer.from("c"))).not.toThrow();
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
const more = (flags: number, text = "", streamId = 1) =>
  frame(CONTINUATION, flags, streamId, Buffer.from(text));
const [LONG, MADE_X] = ["a".repeat(65_536), "x".repeat(65_536)];

test.each<[string, (text: string) => readonly Buffer[], block: string, made: string]>([
  ["a whole one", (text) => [headers(END_HEADERS, text)], "abc", "xxx"],
  ["one of 64 KiB", (text) => [headers(END_HEADERS, text)], LONG, MADE_X],
  ["padding", (text) => [headers(END_HEADERS | PADDED, `\x02${text}..`)], "abc", "xxx"],
  ["padding alone", (text) => [headers(END_HEADERS | PADDED, `\x02${text}..`)], "", ""],
  ["priority", (text) => [headers(END_HEADERS | PRIORITY, `.....${text}`)], "abc", "xxx"],
  [
    "8 more frames, without padding",
    (text) => [headers(0, ""), ...Array(7).fill(more(PADDED)), more(END_HEADERS | PADDED, text)],
    "abc",
    "xxx",
  ],
  [
    "parts",
    (text) => [headers(0, text.slice(0, 2)), more(0, text.slice(2, 4)), more(END_HEADERS, text.slice(4))],
    "abcde",
    "xxxxx",
  ],
])("a header block is gathered: %s", (_what, framesOf, block, made) => {
  expect(gather(framesOf(block))).toEqual([block, Buffer.concat(framesOf(made)).toString()]);
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

test("an error of HTTP/2 has the name that nghttp2 gives it", () => {
  for (const [code, name] of HTTP2_ERRORS.entries())
    expect((constants as Readonly<Record<string, unknown>>)[`NGHTTP2_${name}`]).toBe(code);
});
