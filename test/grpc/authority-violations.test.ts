import { createAuthorityRewriter } from "../../src/grpc/authority";
import { CLIENT_PREFACE } from "../../src/grpc/http2/frames";
import {
  bytesOf,
  CONTINUATION,
  DATA,
  END_HEADERS,
  frame,
  getInfoCall,
  grpcHeaders,
  HEADERS,
  HELLO,
  headerBlock,
  PADDED,
  PRIORITY,
  randomChunks,
  seededRandom,
} from "./wire";

const LIMITS = { maxHeaderBytes: 1_000, maxHeaderFields: 8 };

function createRewriter(emitted: Buffer[] = []) {
  return createAuthorityRewriter({
    ...LIMITS,
    emit: (bytes) => emitted.push(bytes),
    onFrame: () => {},
    isServed: () => true,
    onContent: () => {},
  });
}

const ascii = (text: string) => Buffer.from(text, "latin1");
const afterHello = (...frames: Buffer[]) => Buffer.concat([HELLO, ...frames]);
const block = headerBlock(...grpcHeaders("localhost"));

test.each([
  ["HTTP/1", ascii("GET /healthz HTTP/1.1\r\n"), 'not HTTP/2: begins with "GET /healthz HTTP/1.1\\x0d\\x0a"'],
  ["TLS", bytesOf("160301"), 'not HTTP/2: begins with "\\x16\\x03\\x01"'],
  [
    "control characters and quotes",
    ascii('\x1b[2J"\\\x9b'),
    'not HTTP/2: begins with "\\x1b[2J\\x22\\x5c\\x9b"',
  ],
  [
    "a preface with its last byte wrong",
    Buffer.concat([CLIENT_PREFACE.subarray(0, 23), ascii("x")]),
    /^not HTTP\/2: begins with "PRI/,
  ],
  [
    "a frame over the size every server has to take",
    afterHello(bytesOf("004001 00 00 00000001")),
    "a frame of 16385 bytes, over 16384",
  ],
  [
    "CONTINUATION first",
    afterHello(frame(CONTINUATION, END_HEADERS, 1, block)),
    "a CONTINUATION frame without a HEADERS frame",
  ],
  [
    "CONTINUATION after the end of a block",
    afterHello(frame(HEADERS, END_HEADERS, 1, block), frame(CONTINUATION, 0, 1)),
    "a CONTINUATION frame without a HEADERS frame",
  ],
  [
    "DATA inside a block",
    afterHello(frame(HEADERS, 0, 1, block), frame(DATA, 0, 1)),
    "a frame of type 0 inside a header block",
  ],
  [
    "HEADERS inside a block",
    afterHello(frame(HEADERS, 0, 1, block), frame(HEADERS, 0, 1, block)),
    "a frame of type 1 inside a header block",
  ],
  [
    "CONTINUATION of another stream",
    afterHello(frame(HEADERS, 0, 1, block), frame(CONTINUATION, END_HEADERS, 3)),
    "a frame of type 9 inside a header block",
  ],
  [
    "eight CONTINUATION frames and no end",
    afterHello(frame(HEADERS, 0, 1, block), ...Array(8).fill(frame(CONTINUATION, 0, 1))),
    "more than 8 CONTINUATION frames",
  ],
  [
    "a block over the bound",
    afterHello(frame(HEADERS, END_HEADERS, 1, Buffer.alloc(1_001))),
    "a header block of more than 1000 bytes",
  ],
  [
    "a block over the bound in parts",
    afterHello(frame(HEADERS, 0, 1, Buffer.alloc(600)), frame(CONTINUATION, 0, 1, Buffer.alloc(401))),
    "a header block of more than 1000 bytes",
  ],
  [
    "padding as long as the frame",
    afterHello(frame(HEADERS, PADDED | END_HEADERS, 1, bytesOf("01"))),
    "a HEADERS frame too short for its padding or priority",
  ],
  [
    "padding without its length",
    afterHello(frame(HEADERS, PADDED | END_HEADERS, 1)),
    "a HEADERS frame too short for its padding or priority",
  ],
  [
    "priority cut short",
    afterHello(frame(HEADERS, PRIORITY | END_HEADERS, 1, bytesOf("80000003"))),
    "a HEADERS frame too short for its padding or priority",
  ],
  [
    "DATA with padding as long as the frame",
    afterHello(frame(DATA, PADDED, 1, bytesOf("01"))),
    "a DATA frame too short for its padding",
  ],
  [
    "too many fields",
    afterHello(frame(HEADERS, END_HEADERS, 1, Buffer.alloc(9, 0x83))),
    "more than 8 header fields",
  ],
  [
    "HPACK that points nowhere",
    afterHello(frame(HEADERS, END_HEADERS, 1, bytesOf("c0"))),
    "header index 64 is in no table",
  ],
])("%s", (_name, bytes, message) => {
  const violation = expect.objectContaining({
    code: "PROTOCOL",
    message: typeof message === "string" ? message : expect.stringMatching(message),
  });
  expect(() => createRewriter()(bytes)).toThrow(violation);

  const emitted: Buffer[] = [];
  const write = createRewriter(emitted);
  expect(() => randomChunks(bytes, () => 0, 1).forEach(write)).toThrow("");
  const soFar = emitted.length;
  write(getInfoCall(1, "localhost"));
  expect(emitted).toHaveLength(soFar); // After a violation nothing more goes to the server.
});

test("eight CONTINUATION frames are taken", () => {
  const frames = [
    frame(HEADERS, 0, 1, block),
    ...Array(7).fill(frame(CONTINUATION, 0, 1)),
    frame(CONTINUATION, END_HEADERS, 1),
  ];
  const emitted: Buffer[] = [];
  createRewriter(emitted)(afterHello(...frames));
  expect(Buffer.concat(emitted).equals(afterHello(...frames))).toBe(true);
});

test("a block of just the bound is taken", () => {
  const padding = Buffer.alloc(255);
  const filler = headerBlock(["x", "y".repeat(1_000 - 256 - block.length - 6)]);
  const payload = Buffer.concat([Buffer.of(255), block, filler, padding]);
  expect(payload).toHaveLength(1_000);
  expect(() => createRewriter()(afterHello(frame(HEADERS, PADDED | END_HEADERS, 1, payload)))).not.toThrow();
});

test("random damage is passed on or refused, and nothing else ever thrown", () => {
  const random = seededRandom(7_541);
  const good = afterHello(getInfoCall(1, "/raw"), getInfoCall(3, "/raw"), getInfoCall(5, "localhost"));
  let refused = 0;
  for (let run = 0; run < 3_000; run++) {
    const bytes = Buffer.from(good);
    for (let hits = 1 + Math.floor(random() * 4); hits > 0; hits--) {
      bytes[HELLO.length + Math.floor(random() * (bytes.length - HELLO.length))] = Math.floor(random() * 256);
    }
    try {
      randomChunks(bytes, random, 200).forEach(createRewriter());
    } catch (error) {
      expect(error).toMatchObject({ code: "PROTOCOL" });
      refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(100);
});
