import { createAuthorityRewriter } from "../../src/grpc/authority";
import { encodeLiterals } from "../../src/grpc/hpack/encoder";
import type { FrameHeader } from "../../src/grpc/http2/frames";
import {
  bytesOf,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  fixture,
  frame,
  getInfoCall,
  grpcHeaders,
  HEADERS,
  HELLO,
  headerBlock,
  PADDED,
  PING,
  PRIORITY,
  RAW_PATH,
  randomChunks,
  requestsIn,
  seededRandom,
} from "./wire";

const LIMITS = { maxHeaderBytes: 16_384, maxHeaderFields: 64 };

/** What the server gets of these chunks, and what the rewriter says about it. */
function rewrite(chunks: readonly Buffer[], limits = LIMITS) {
  const pieces: Buffer[] = [];
  const frames: FrameHeader[] = [];
  const content: string[] = [];
  const write = createAuthorityRewriter({
    ...limits,
    emit: (bytes) => pieces.push(bytes),
    onFrame: (header) => frames.push(header),
    isServed: () => true,
    onContent: (streamId, piece) => content.push(`${streamId}: ${piece.toString("latin1")}`),
  });
  for (const chunk of chunks) write(chunk);
  return { pieces, frames, content, bytes: Buffer.concat(pieces) };
}

function authoritiesIn(sent: Buffer): (string | undefined)[] {
  return requestsIn(sent).map(({ fields }) => fields.find(([name]) => name === ":authority")?.[1]);
}

describe("recorded clients", () => {
  test.each(["kubelet-1.24.hex", "kubelet-1.28.hex"])("%s: each raw path becomes localhost", (name) => {
    const sent = fixture(name);
    expect(authoritiesIn(sent)).toEqual([RAW_PATH, RAW_PATH, RAW_PATH]);
    const { bytes, frames } = rewrite([sent]);
    const before = requestsIn(sent);
    const expected = before.map(({ streamId, fields }) => ({
      streamId,
      fields: fields.map(([key, value]) => [key, key === ":authority" ? "localhost" : value]),
    }));
    expect(requestsIn(bytes)).toEqual(expected);
    expect(frames.filter(({ type }) => type === HEADERS).map(({ streamId }) => streamId)).toEqual([1, 3, 5]);
  });

  test("kubelet-1.36.hex: an encoded path goes through untouched, in slices", () => {
    const sent = fixture("kubelet-1.36.hex");
    const { bytes, pieces } = rewrite([sent]);
    expect(bytes.equals(sent)).toBe(true);
    expect(pieces.every((piece) => piece.length === 0 || piece.buffer === sent.buffer)).toBe(true);
  });

  test.each(["kubelet-1.24.hex", "kubelet-1.28.hex", "kubelet-1.36.hex"])(
    "%s: the chunks it comes in make no difference",
    (name) => {
      const sent = fixture(name);
      const whole = rewrite([sent]).bytes;
      const random = seededRandom(20_240_229);
      expect(rewrite(randomChunks(sent, () => 0, 1)).bytes.equals(whole)).toBe(true);
      for (let run = 0; run < 200; run++) {
        expect(rewrite(randomChunks(sent, random, 1 + run)).bytes.equals(whole)).toBe(true);
      }
    },
  );
});

describe("which authorities are replaced", () => {
  test.each([
    [RAW_PATH, "localhost"],
    ["", "localhost"],
    ["a b", "localhost"],
    ["a@b", "localhost"],
    ["a\\b", "localhost"],
    ["caf\xe9", "localhost"],
    ["localhost\n", "localhost"],
    ["localhost", "localhost"],
    ["%2Fvar%2Flib%2Fkubelet%2Fa.sock", "%2Fvar%2Flib%2Fkubelet%2Fa.sock"],
    ["example.com:443", "example.com:443"],
    ["[::1]:80", "[::1]:80"],
  ])("%j becomes %j", (given, passed) => {
    const sent = Buffer.concat([HELLO, getInfoCall(1, given)]);
    const { bytes } = rewrite([sent]);
    expect(authoritiesIn(bytes)).toEqual([passed]);
    expect(bytes.equals(sent)).toBe(given === passed);
  });

  test("headers without one stay as they are: trailers have none", () => {
    const sent = Buffer.concat([
      HELLO,
      frame(HEADERS, END_HEADERS, 1, headerBlock(...grpcHeaders("localhost"))),
      frame(HEADERS, END_HEADERS | END_STREAM, 1, headerBlock(["x-checksum", "1"])),
    ]);
    expect(rewrite([sent]).bytes.equals(sent)).toBe(true);
  });
});

describe("after the first change", () => {
  test("every block is literals, so that the server's table need not follow", () => {
    const indexed = bytesOf("4001 6101 62"); // a: b, kept in the table
    const sent = Buffer.concat([
      HELLO,
      getInfoCall(1, "/raw"),
      frame(HEADERS, END_HEADERS, 3, Buffer.concat([headerBlock(...grpcHeaders("localhost")), indexed])),
      frame(HEADERS, END_HEADERS | END_STREAM, 3, Buffer.of(0xbe)),
    ]);
    const { bytes } = rewrite([sent]);
    expect(requestsIn(bytes).slice(1)).toEqual([
      { streamId: 3, fields: [...grpcHeaders("localhost"), ["a", "b"]] },
      { streamId: 3, fields: [["a", "b"]] },
    ]);
    // The last frame: trailers, their END_STREAM kept, name and value spelled out.
    expect(
      bytes.subarray(-14).equals(frame(HEADERS, END_HEADERS | END_STREAM, 3, bytesOf("0001610162"))),
    ).toBe(true);
  });

  test("the table sizes that a client announces are passed on", () => {
    const block = encodeLiterals({ tableSizes: [0, 4_096], fields: grpcHeaders("/raw") });
    const { bytes } = rewrite([Buffer.concat([HELLO, frame(HEADERS, END_HEADERS, 1, block)])]);
    expect(
      bytes
        .subarray(HELLO.length + 9)
        .subarray(0, 4)
        .toString("hex"),
    ).toBe("203fe11f");
    expect(authoritiesIn(bytes)).toEqual(["localhost"]);
  });

  test("a block larger than a frame goes on in CONTINUATION frames", () => {
    const long: [string, string] = ["x-long", "v".repeat(40_000)];
    const block = headerBlock(...grpcHeaders("/raw"), long);
    const sent = Buffer.concat([
      HELLO,
      frame(HEADERS, END_STREAM, 1, block.subarray(0, 16_384)),
      frame(CONTINUATION, 0, 1, block.subarray(16_384, 32_768)),
      frame(CONTINUATION, END_HEADERS, 1, block.subarray(32_768)),
    ]);
    const { bytes } = rewrite([sent], { ...LIMITS, maxHeaderBytes: 65_535 });
    expect(requestsIn(bytes)).toEqual([{ streamId: 1, fields: [...grpcHeaders("localhost"), long] }]);
    const out = rewrite([bytes], { ...LIMITS, maxHeaderBytes: 65_535 });
    expect(out.bytes.equals(bytes)).toBe(true); // So every frame in it keeps the bounds.
    expect(bytes[HELLO.length + 4]).toBe(END_STREAM);
  });
});

describe("header blocks in every shape", () => {
  const block = headerBlock(...grpcHeaders("/raw"));
  const wanted = [{ streamId: 1, fields: grpcHeaders("localhost") }];

  test("cut in two at every byte", () => {
    for (let at = 0; at <= block.length; at++) {
      const cut = [
        frame(HEADERS, 0, 1, block.subarray(0, at)),
        frame(CONTINUATION, END_HEADERS, 1, block.subarray(at)),
      ];
      expect(requestsIn(rewrite([HELLO, ...cut]).bytes)).toEqual(wanted);
    }
  });

  test("cut in two at every byte where nothing needs a change", () => {
    const fine = headerBlock(...grpcHeaders("localhost"));
    for (let at = 0; at <= fine.length; at++) {
      const sent = [
        HELLO,
        frame(HEADERS, 0, 1, fine.subarray(0, at)),
        frame(CONTINUATION, END_HEADERS, 1, fine.subarray(at)),
      ];
      expect(rewrite(sent).bytes.equals(Buffer.concat(sent))).toBe(true);
    }
  });

  const priority = Buffer.from([0x80, 0, 0, 3, 16]);
  test.each([
    ["padded", PADDED, Buffer.concat([Buffer.of(7), block, Buffer.alloc(7)])],
    ["padded with nothing", PADDED, Buffer.concat([Buffer.of(0), block])],
    ["with priority", PRIORITY, Buffer.concat([priority, block])],
    [
      "padded, with priority",
      PADDED | PRIORITY,
      Buffer.concat([Buffer.of(255), priority, block, Buffer.alloc(255)]),
    ],
  ])("%s", (_name, flag, payload) => {
    const { bytes } = rewrite([HELLO, frame(HEADERS, flag | END_HEADERS | END_STREAM, 1, payload)]);
    expect(requestsIn(bytes)).toEqual(wanted);
    expect(bytes[HELLO.length + 4]).toBe(END_HEADERS | END_STREAM);
  });
});

test("other frames go through as they come, without waiting for their end", () => {
  const data = frame(DATA, 0, 1, Buffer.alloc(16_384, "d"));
  const sent = Buffer.concat([HELLO, getInfoCall(1, "/raw"), frame(PING, 0, 0, Buffer.alloc(8)), data]);
  const { pieces } = rewrite([sent.subarray(0, -16_000)]);
  const { bytes } = rewrite([sent.subarray(0, -16_000)]);
  expect(bytes.subarray(-384).equals(data.subarray(9, 393))).toBe(true);
  expect(pieces.at(-1)?.buffer).toBe(sent.buffer);
});

test("what DATA frames hold is told of in pieces, without padding", () => {
  const padded = frame(DATA, PADDED | END_STREAM, 3, Buffer.from("\x02hello\0\0", "latin1"));
  const sent = Buffer.concat([HELLO, frame(DATA, 0, 1, Buffer.from("ab")), padded]);
  const { content, bytes } = rewrite([sent.subarray(0, -5), sent.subarray(-5)]);
  expect(content).toEqual(["1: ab", "3: he", "3: llo"]);
  expect(bytes.equals(sent)).toBe(true);
});

test("frames are told of before their bytes are emitted: the server may answer at once", () => {
  const order: string[] = [];
  const block = headerBlock(...grpcHeaders("localhost"));
  createAuthorityRewriter({
    ...LIMITS,
    emit: (bytes) => order.push(`${bytes.length} bytes`),
    onFrame: ({ type }) => order.push(`frame of type ${type}`),
    isServed: () => true,
    onContent: (_streamId, piece) => order.push(`content of ${piece.length} bytes`),
  })(
    Buffer.concat([
      HELLO,
      frame(HEADERS, END_HEADERS, 1, block),
      frame(DATA, END_STREAM, 1, Buffer.alloc(5)),
    ]),
  );
  expect(order).toEqual([
    "24 bytes",
    "frame of type 4",
    "9 bytes",
    "frame of type 1",
    "9 bytes",
    `${block.length} bytes`,
    "frame of type 0",
    "9 bytes",
    "content of 5 bytes",
    "5 bytes",
  ]);
});
