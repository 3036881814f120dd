import { CLIENT_PREFACE } from "../../../src/grpc/guard/frames";
import { bytesOf, DATA, frame, GOAWAY, getInfoCall, HEADERS, PING, RST_STREAM, SETTINGS } from "../wire";
import { type Attack, attack, NO_CALL, openCall, openCallInHuffman, times, uint32 } from "./attack";

const PRIORITY_FRAME = 2;
const PUSH_PROMISE = 5;
const WINDOW_UPDATE = 8;
const CANCEL = 8;
const REFUSED_STREAM = 7;

const setting = (id: number, value: number) =>
  frame(SETTINGS, 0, 0, Buffer.concat([Buffer.of(0, id), uint32(value)]));
const windowUpdate = (streamId: number, increment: number) =>
  frame(WINDOW_UPDATE, 0, streamId, uint32(increment));
const reset = (streamId: number) => frame(RST_STREAM, 0, streamId, uint32(CANCEL));
const goodCall = (streamId: number) => getInfoCall(streamId, "localhost");
const goodbye = frame(GOAWAY, 0, 0, Buffer.alloc(8));
const ping = frame(PING, 0, 0, Buffer.alloc(8));
const NOT_HTTP2 = { closed: /^not HTTP\/2/ };
/** Each Node says something else. */
const BROKEN = /^HTTP\/2 error/;

const givenUp = (call: Buffer, n: number) => Buffer.concat([call, reset(2 * n + 1)]);
const flood = (name: string, make: (n: number) => Buffer, ...before: Buffer[]) =>
  attack(name, [...before, times(3_000, make)], NO_CALL);

/** Connections and their frames. The names are the rows of a table in docs/security.md. */
export const CONNECTION_ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  "what is not HTTP/2": [
    { name: "HTTP/1", bytes: Buffer.from("GET / HTTP/1.1\r\n\r\n"), outcome: NOT_HTTP2 },
    { name: "TLS", bytes: bytesOf("160301 0200 01"), outcome: NOT_HTTP2 },
    { name: "noise", bytes: Buffer.alloc(100_000, 0xff), outcome: NOT_HTTP2 },
  ],
  "frames against the rules": [
    { name: "PING first", bytes: Buffer.concat([CLIENT_PREFACE, ping]), outcome: { closed: BROKEN } },
    attack("zeros without end", Buffer.alloc(99_999), NO_CALL),
    attack("SETTINGS of a wrong length", frame(SETTINGS, 0, 0, Buffer.alloc(5)), BROKEN),
    attack("PUSH_PROMISE", frame(PUSH_PROMISE, 4, 1, uint32(2)), BROKEN),
    attack("RST_STREAM before HEADERS", reset(99), BROKEN),
    attack("an even stream", openCall(2), BROKEN),
  ],
  "frames of more than 16384 bytes": [
    attack("16385 bytes", frame(DATA, 0, 1, Buffer.alloc(16_385)), "a frame of 16385 bytes, over 16384"),
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
    attack("a call's window", [openCall(1), windowUpdate(1, 0x7fff_ffff)], /^(?:HTTP\/2 error.*)?$/),
  ],
  "windows of 0": [attack("unanswerable calls", [setting(4, 0), goodCall(1), goodCall(3)], "ignored")],
  "more calls at a time than allowed": [
    attack(
      "100 calls",
      times(100, (n) => openCall(2 * n + 1)),
      { reset: REFUSED_STREAM },
      9,
    ),
  ],
  "calls on streams that go backwards": [attack("5, then 3", [goodCall(5), goodCall(3)], "ignored")],
  GOAWAY: [
    attack("a goodbye", goodbye, ""),
    attack("an error", frame(GOAWAY, 0, 0, bytesOf("00000000 0000000b")), ""),
    attack("a goodbye in a call", [openCall(1), goodbye, frame(HEADERS, 0, 1)], ""),
  ],
};
