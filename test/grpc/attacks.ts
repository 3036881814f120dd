import { gzipSync } from "node:zlib";
import { CLIENT_PREFACE, FrameFlag, FrameType } from "../../src/grpc/guard/frames";
import {
  bytesOf,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  GOAWAY,
  getInfoCall,
  grpcHeaders,
  HEADERS,
  HELLO,
  type HeaderField,
  headerBlock,
  PADDED,
  PING,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from "./wire";

/** What the server says of a flood, as it is in `call-allowance.ts`. */
const NO_CALL = "closed: 200 frames that lead to no call";

/** Something that a hostile or broken client does on one connection. */
export interface Attack {
  readonly name: string;
  readonly bytes: Buffer;
  /**
   * What becomes of it: `closed: ` and why the server closed the connection, `reset ` and the code with which the call ends,
   * `answered ` and its grpc-status, or `ignored`.
   */
  readonly outcome: string | RegExp;
  /** The call whose end shows what happened, where it is about calls. */
  readonly streamId?: number | undefined;
}

/** An attack after a good beginning. */
function attack(
  name: string,
  frames: Buffer | readonly Buffer[],
  outcome: string | RegExp,
  call = 1,
): Attack {
  const streamId = /^(?:reset|answered)/.test(String(outcome)) ? call : undefined;
  return { name, bytes: Buffer.concat([HELLO, ...[frames].flat()]), outcome, streamId };
}

export function times(count: number, make: (index: number) => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));
}

/** The head of a GetInfo call that goes on, with more header fields if there are. */
export function openCall(streamId: number, more: Buffer = Buffer.alloc(0)): Buffer {
  const fields = Buffer.concat([headerBlock(...grpcHeaders("localhost")), more]);
  return frame(FrameType.HEADERS, FrameFlag.END_HEADERS, streamId, fields);
}

/** With fields of 2000 times "a" in 1250 bytes of Huffman code each. */
export function openCallInHuffman(streamId: number, count = 2): Buffer {
  const code = Buffer.from("18c6318c63".repeat(250), "hex");
  const field = Buffer.concat([bytesOf("00 01 78 ff e3 08"), code]);
  return openCall(streamId, Buffer.concat(Array(count).fill(field)));
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const PRIORITY_FRAME = 2;
const PUSH_PROMISE = 5;
const CANCEL = 8;
const REFUSED_STREAM = "reset 7";

const setting = (id: number, value: number) =>
  frame(SETTINGS, 0, 0, Buffer.concat([Buffer.of(0, id), uint32(value)]));
const windowUpdate = (streamId: number, increment: number) =>
  frame(WINDOW_UPDATE, 0, streamId, uint32(increment));
const reset = (streamId: number) => frame(RST_STREAM, 0, streamId, uint32(CANCEL));
const goodCall = (streamId: number) => getInfoCall(streamId, "localhost");
const goodbye = frame(GOAWAY, 0, 0, Buffer.alloc(8));
const ping = frame(PING, 0, 0, Buffer.alloc(8));
const NOT_HTTP2 = /^closed: not HTTP\/2/;
const TOO_LONG = "closed: a frame of 16385 bytes, over 16384";
const INSIDE_A_BLOCK = "closed: a frame of type 6 inside a header block";
const BROKEN = /^closed: HTTP\/2 error/;

const givenUp = (call: Buffer, n: number) => Buffer.concat([call, reset(2 * n + 1)]);
const flood = (name: string, make: (n: number) => Buffer, ...before: Buffer[]) =>
  attack(name, [...before, times(3_000, make)], NO_CALL);

const REQUEST = grpcHeaders("localhost");
const request = headerBlock(...REQUEST);
const block = (...parts: Buffer[]) => frame(HEADERS, END_HEADERS, 1, Buffer.concat(parts));
const headers = (...parts: Buffer[]) => block(request, ...parts);
/** Node's own limit, and what it answers beyond that. */
export const MAX_FIELDS = 128;
const ENHANCE_YOUR_CALM = "reset 11";
const TOO_MUCH = "closed: header fields of more than 65536 bytes";
const TABLE_SIZES = times(500, () => bytesOf("20 3f e1 1f"));
const endless = "closed: more than 8 CONTINUATION frames";
const field = bytesOf("00 01 78 01 79");
const beginning = frame(HEADERS, 0, 1, request);

/** A field whose value of 4000 bytes goes into the dynamic table; `be` is the index of what came there last. */
const bigEntry = Buffer.concat([bytesOf("40 01 78 7f a11e"), Buffer.alloc(4_000, "y")]);

const [OK, EXHAUSTED, UNIMPLEMENTED, INTERNAL] = [
  "answered 0",
  "answered 8",
  "answered 12",
  "answered 13",
] as const;
/** 415, without grpc-status. */
const NO_STATUS = "answered NaN";
const LARGEST_FRAME = 16_384;

const NOTHING = Buffer.alloc(5);
const GZIPPED: readonly HeaderField[] = [...REQUEST, ["grpc-encoding", "gzip"]];

function call(fields: readonly HeaderField[], message: Buffer = NOTHING, streamId = 1): Buffer {
  const data = times(Math.ceil(message.length / LARGEST_FRAME), (index) => {
    const rest = message.subarray(index * LARGEST_FRAME);
    const flags = rest.length <= LARGEST_FRAME ? END_STREAM : 0;
    return frame(DATA, flags, streamId, rest.subarray(0, LARGEST_FRAME));
  });
  return Buffer.concat([frame(HEADERS, END_HEADERS, streamId, headerBlock(...fields)), data]);
}
const withField = (name: string, value: string) => call([...REQUEST, [name, value]]);
const without = (name: string) => REQUEST.filter(([one]) => one !== name);
const inGzip = (content: Buffer) => {
  const packed = gzipSync(content);
  return Buffer.concat([Buffer.of(1), uint32(packed.length), packed]);
};
const MINE: readonly HeaderField[] = [...REQUEST, ["grpc-encoding", "mine"]];
const MANY_IN_GZIP = times(600, () => inGzip(Buffer.alloc(0)));
const NOT_SERVED = grpcHeaders("localhost", "Reboot");
const CALLS_NOT_SERVED = times(99, (n) => call(NOT_SERVED, NOTHING, 2 * n + 1));
const OPEN_CALLS = times(100, (n) => openCall(2 * n + 1));
const A_BYTE_MORE = Buffer.concat([bytesOf("00 00400001"), Buffer.alloc(60_000)]);
const PADDING = times(20_000, () => frame(DATA, PADDED, 1, Buffer.alloc(256, 255)));
const CONTINUED = times(5, () => frame(CONTINUATION, 0, 1, Buffer.alloc(16_000)));

/** By what they have in common, which is a row of a table in docs/security.md. */
export const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  // Connections and their frames.
  "what is not HTTP/2": [
    { name: "HTTP/1", bytes: Buffer.from("GET / HTTP/1.1\r\n\r\n"), outcome: NOT_HTTP2 },
    { name: "TLS", bytes: bytesOf("160301 0200 01"), outcome: NOT_HTTP2 },
    { name: "noise", bytes: Buffer.alloc(100_000, 0xff), outcome: NOT_HTTP2 },
  ],
  "frames against the rules": [
    { name: "PING first", bytes: Buffer.concat([CLIENT_PREFACE, ping]), outcome: BROKEN },
    attack("zeros without end", Buffer.alloc(99_999), NO_CALL),
    attack("SETTINGS of a wrong length", frame(SETTINGS, 0, 0, Buffer.alloc(5)), BROKEN),
    attack("PUSH_PROMISE", frame(PUSH_PROMISE, 4, 1, uint32(2)), BROKEN),
    attack("RST_STREAM before HEADERS", reset(99), BROKEN),
    attack("an even stream", openCall(2), BROKEN),
  ],
  "frames of more than 16384 bytes": [
    attack("16385 bytes", frame(DATA, 0, 1, Buffer.alloc(16_385)), TOO_LONG),
  ],
  "floods of frames that lead to no call": [
    flood("SETTINGS", () => frame(SETTINGS, 0, 0)),
    flood("PING", () => ping),
    flood("PRIORITY", (n) => frame(PRIORITY_FRAME, 0, 2 * n + 1, bytesOf("00000000 10"))),
    flood("WINDOW_UPDATE of a call", () => windowUpdate(1, 1), openCall(1)),
    flood("DATA of an ended call", () => frame(DATA, 0, 1), openCall(1), reset(1)),
    flood("calls with 8 kB of Huffman code, given up", (n) => givenUp(openCallInHuffman(2 * n + 1, 7), n)),
    flood("frames of an unknown type", () => frame(0xbe, 0xff, 77, Buffer.alloc(20))),
  ],
  "rapid reset (CVE-2023-44487)": [
    flood("3000 calls, each reset at once", (n) => givenUp(openCall(2 * n + 1), n)),
  ],
  "windows that overflow, or grow by 0": [
    attack("an initial window of 2 GB", setting(4, 0x8000_0000), BROKEN),
    attack("the connection's window", windowUpdate(0, 0x7fff_ffff), BROKEN),
    attack("a window that grows by 0", windowUpdate(0, 0), BROKEN),
    attack("a call's window", [openCall(1), windowUpdate(1, 0x7fff_ffff)], BROKEN),
  ],
  "windows of 0": [attack("unanswerable calls", [setting(4, 0), goodCall(1), goodCall(3)], "ignored")],
  "more calls at a time than allowed": [attack("100 calls", OPEN_CALLS, REFUSED_STREAM, 9)],
  "calls on streams that go backwards": [attack("5, then 3", [goodCall(5), goodCall(3)], "ignored")],
  GOAWAY: [
    attack("a goodbye", goodbye, "closed: "),
    attack("an error", frame(GOAWAY, 0, 0, bytesOf("00000000 0000000b")), "closed: "),
    attack("cut short", frame(GOAWAY, 0, 0, Buffer.alloc(3)), BROKEN),
    attack("a goodbye in a call", [openCall(1), goodbye, frame(HEADERS, 0, 1)], "closed: "),
  ],
  // Header blocks: HPACK (RFC 7541), and what carries it.
  "CONTINUATION flood (CVE-2024-27983)": [
    attack("with fields", [beginning, times(1_000, () => frame(CONTINUATION, 0, 1, field))], endless),
    attack("of nothing", [beginning, times(1_000, () => frame(CONTINUATION, 0, 1))], endless),
    attack("another frame", [beginning, frame(PING, 0, 0)], INSIDE_A_BLOCK),
  ],
  "header blocks of more than 65536 bytes": [
    attack("as sent", [beginning, CONTINUED], "closed: a header block of more than 65536 bytes"),
    attack("HPACK bomb: 4000 bytes, repeated 60 times", headers(bigEntry, Buffer.alloc(60, 0xbe)), TOO_MUCH),
  ],
  "more than 128 header fields": [
    attack("one more", headers(Buffer.alloc(MAX_FIELDS - REQUEST.length + 1, 0x90)), ENHANCE_YOUR_CALM),
    attack("10000 small ones", headers(Buffer.alloc(10_000, 0x90)), TOO_MUCH),
  ],
  "a large HPACK table": [attack("4097 bytes", block(bytesOf("3f e2 1f"), request), BROKEN)],
  "HPACK table sizes, over and over": [attack("1000 of them", block(TABLE_SIZES, request), "ignored")],
  "HPACK that means nothing": [
    attack("Huffman garbage", headers(bytesOf("00 01 78 84 ff ff ff ff")), BROKEN),
    attack("an index out of range", headers(bytesOf("ff 80 01")), BROKEN),
  ],
  // Calls: good HTTP/2, hostile gRPC.
  "methods that are not served": [
    attack("one", call(NOT_SERVED), UNIMPLEMENTED),
    attack("99 of them", CALLS_NOT_SERVED, UNIMPLEMENTED),
    attack("and reset at once", [call(NOT_SERVED), reset(1)], "ignored"),
    attack("and broken off at once", [call(NOT_SERVED), frame(0, 0, 0)], BROKEN),
  ],
  "requests that are not gRPC's": [
    attack("no content-type", call(without("content-type")), NO_STATUS),
    attack("a browser", call([...without("content-type"), ["content-type", "x/y"]]), NO_STATUS),
    attack("CONNECT", call([[":method", "CONNECT"]]), "reset 1"),
    attack("Latin-1 in a field", withField("x", "caf\xe9"), OK),
  ],
  "requests that are not HTTP's": [
    attack("a field of HTTP/1", withField("connection", "close"), "reset 1"),
    attack("no :scheme", call(without(":scheme")), "reset 1"),
  ],
  "odd grpc-timeout": [
    attack("no number", withField("grpc-timeout", "soon"), INTERNAL),
    attack("4000 digits", withField("grpc-timeout", `${"9".repeat(4_000)}H`), OK),
    attack("11000 years", withField("grpc-timeout", "99999999H"), OK),
  ],
  "messages of more than 4 MB": [
    attack("a byte more", call(REQUEST, A_BYTE_MORE), EXHAUSTED),
    attack("as it says: 4 GB", call(REQUEST, bytesOf("00 ffffffff")), EXHAUSTED),
    attack("gzip bomb: 16 MB in 16 kB", call(GZIPPED, inGzip(Buffer.alloc(16_000_000))), EXHAUSTED),
  ],
  "messages that mean nothing": [
    attack("cut short", call(REQUEST, bytesOf("00 00000010 0a")), UNIMPLEMENTED),
    attack("garbage", call(REQUEST, bytesOf("00 00000004 ffffffff")), INTERNAL),
    attack("no gzip", call(GZIPPED, bytesOf("01 00000004 ffffffff")), INTERNAL),
    attack("another compression", call(MINE, bytesOf("01 00000001 00")), UNIMPLEMENTED),
  ],
  "more than one message in a call": [
    attack("3000 empty ones", call(REQUEST, Buffer.alloc(15_000)), UNIMPLEMENTED),
    attack("600 in gzip", call(GZIPPED, MANY_IN_GZIP), UNIMPLEMENTED),
  ],
  "more DATA than one message has": [
    attack("of nothing", [openCall(1), times(1_000, () => frame(DATA, 0, 1))], NO_CALL),
    attack(
      "padding without end",
      [openCall(1), PADDING],
      /^closed: too many bytes of u.*|FLOW_CONTROL_ERROR/,
    ),
  ],
};
