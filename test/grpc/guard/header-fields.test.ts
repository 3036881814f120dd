import { once } from "node:events";
import { connect as connectHttp2, createServer, type IncomingHttpHeaders } from "node:http2";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import * as fc from "fast-check";
import { CLIENT_PREFACE } from "../../../src/grpc/guard/frames";
import { guardFromClient } from "../../../src/grpc/guard/guards";
import { createFieldReader } from "../../../src/grpc/guard/header-fields";
import { listenInPlace } from "../../support/foreign-socket";
import { propertyTest } from "../../support/fuzz";
import { createTempFolder } from "../../support/temp-folder";
import {
  bytesOf,
  CONTINUATION,
  END_HEADERS,
  END_STREAM,
  fixture,
  frame,
  HEADERS,
  HELLO,
  PADDED,
  PING,
  PRIORITY,
  RAW_PATH,
} from "../wire";

/** Node's HTTP/2 behind the guard, at a path, with the header fields of each request that it takes. */
async function serveHttp2() {
  const folder = await createTempFolder();
  const path = folder.at("s");
  const requests: IncomingHttpHeaders[] = [];
  const http2 = createServer({ settings: { headerTableSize: 4_096 } });
  http2.on("stream", (stream, headers) => {
    requests.push(headers);
    stream.on("error", () => {});
    stream.respond({ ":status": 200 }, { endStream: true });
  });
  const sockets: Socket[] = [];
  const server = await listenInPlace(path, (socket) => {
    sockets.push(socket);
    guardFromClient(socket, { maxFrames: 200, maxUnfinishedBytes: 1e6, unfinishedBytes: 0 }, (stream) =>
      http2.emit("connection", stream),
    );
  });
  return {
    ...{ path, requests, sockets },
    async [Symbol.asyncDispose]() {
      await server.kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** What Node takes as the `:authority` of each request in these bytes, which come in chunks of `chunkBytes`. */
async function authoritiesOf(frames: Buffer, chunkBytes = 65_536) {
  const sent = Buffer.concat([HELLO, frames, frame(PING, 0, 0, MARK)]);
  await using served = await serveHttp2();
  const client = connect(served.path).on("error", () => {});
  await once(client, "connect");
  while (served.sockets.length === 0) await nextTurn();
  for (let at = 0; at < sent.length; at += chunkBytes)
    served.sockets[0]?.emit("data", Buffer.from(sent.subarray(at, at + chunkBytes)));
  await new Promise((resolve) => {
    client.on("data", (bytes: Buffer) => bytes.includes(MARK) && client.destroy());
    client.once("close", resolve);
  });
  return served.requests.map(({ ":authority": authority }) => authority);
}

const MARK = Buffer.from("all read");
const REST = bytesOf("83 86 84"); // POST, http and / by their index.
const request = (block: Buffer, streamId = 1) =>
  frame(HEADERS, END_HEADERS | END_STREAM, streamId, Buffer.concat([REST, block]));
const text = (value: string) => Buffer.concat([Buffer.of(value.length), Buffer.from(value, "latin1")]);
const literal = (start: string, value: string) => Buffer.concat([bytesOf(start), text(value)]);
const SPELLED_OUT = Buffer.from(":authority").toString("hex");
const field = literal("01", "/a/path");
const PADDED_BLOCK = Buffer.concat([bytesOf("07 00000000 10"), REST, field, Buffer.from("/ar/lib")]);
const more = (flags: number, bytes: Buffer) => frame(CONTINUATION, flags, 1, bytes);
const recorded = (version: string) => fixture(`kubelet-${version}.hex`).subarray(CLIENT_PREFACE.length);
const FILLED = "aaaaaaa";
const ALL_FLAGS = PADDED | PRIORITY | END_HEADERS | END_STREAM;
const HALVES = [more(0, field.subarray(0, 4)), more(END_HEADERS, field.subarray(4))];
const IN_PIECES = [frame(HEADERS, END_STREAM, 1, REST), ...HALVES];

test.each<[string, Buffer | readonly Buffer[], readonly string[]]>([
  ["a literal without indexing", request(field), [FILLED]],
  ["a literal that is never indexed", request(literal("11", "/a/path")), [FILLED]],
  ["an indexed literal", [request(literal("41", "/a/path")), request(bytesOf("be"), 3)], [FILLED, FILLED]],
  [
    "a name that is an index of the dynamic table",
    [request(literal("41", "x")), request(literal("7e", "/a/path"), 3), request(bytesOf("bf"), 5)],
    ["x", FILLED, "x"],
  ],
  ["a name that is spelled out", request(literal(`40 0a ${SPELLED_OUT}`, "/a/path")), [FILLED]],
  ["a name in Huffman code", request(literal("00 88 b83b5339ec327d7f", "/a/path")), [FILLED]],
  ["a value in Huffman code: 5 bytes", request(bytesOf("01 85 60d4ac755f")), ["aaaaa"]],
  ["300 bytes", request(Buffer.concat([bytesOf("01 7f ad01"), Buffer.alloc(300, "/")])), ["a".repeat(300)]],
  ["a legal value", request(literal("01", "[::1]:80")), ["[::1]:80"]],
  ["a legal value in Huffman code", request(bytesOf("01 86 a0e41d139d09")), ["localhost"]],
  ["padding and priority", frame(HEADERS, ALL_FLAGS, 1, PADDED_BLOCK), [FILLED]],
  ["CONTINUATION in the middle of the value", IN_PIECES, [FILLED]],
  ["the size of a table before it", request(bytesOf("")), []],
  ["an empty one", request(literal("01", "")), []],
  ["what kubelet 1.24 sends", recorded("1.24"), Array(3).fill("a".repeat(44))],
  ["what kubelet 1.28 sends", recorded("1.28"), Array(3).fill("a".repeat(44))],
  ["what kubelet 1.36 sends", recorded("1.36"), Array(3).fill(encodeURIComponent(RAW_PATH))],
])("%s, in chunks of any size", async (_what, sent, authorities) => {
  for (const chunkBytes of [1, 7, undefined])
    expect(await authoritiesOf(Buffer.concat([sent].flat()), chunkBytes)).toEqual(authorities);
});

const LEGAL = "!$%&'()*+,-.0123456789:;=ABCDEFGHIJKLMNOPQRSTUVWXYZ[]_abcdefghijklmnopqrstuvwxyz~";

test("characters that Node accepts stay, and all others become an a", async () => {
  const odd = Array.from({ length: 256 }, (_, code) => `a${String.fromCharCode(code)}`);
  const requests = odd.map((one, index) => request(literal("01", one), 2 * index + 1));
  const taken = await authoritiesOf(Buffer.concat(requests));
  expect(taken).toEqual(odd.map((one) => (LEGAL.includes(one.charAt(1)) ? one : "aa")));
});

test("characters that Node accepts stay in Huffman code, too", async () => {
  await using served = await serveHttp2();
  const client = connectHttp2("http://x", { createConnection: () => connect(served.path) });
  // Shorter in Huffman code, so Node's client sends them in it.
  const sent = [...LEGAL].map((one) => `0${one}000000`);
  for (const authority of sent) await once(client.request({ ":authority": authority }).resume(), "end");
  client.destroy();
  expect(served.requests.map((one) => one[":authority"])).toEqual(sent);
});

propertyTest(
  "invalid bytes are read to their end",
  { runs: 1_000, given: fc.array(fc.uint8Array({ maxLength: 60 })) },
  (blocks) => {
    const readFields = createFieldReader();
    for (const block of blocks)
      expect(["string", "undefined"]).toContain(typeof readFields(Buffer.from(block)));
  },
);

const ascii = fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 60 });
const value = fc.oneof(
  fc.constantFrom("localhost", RAW_PATH, "/a", `/${"b".repeat(5_000)}`),
  ascii.map((one) => one.replace(/[\0-\x20\x7f]/g, "/")),
);
const requestFields = fc.record({ authority: value, x: fc.constantFrom("1", "2"), y: value });

propertyTest(
  "every other field of a client with HPACK's table arrives as it was sent",
  { runs: 60, given: fc.array(requestFields, { minLength: 1, maxLength: 12 }) },
  async (sent) => {
    await using served = await serveHttp2();
    const session = connectHttp2("http://localhost", { createConnection: () => connect(served.path) });
    for (const { authority, x, y } of sent) {
      const stream = session.request({ ":authority": authority, x, y });
      await new Promise((resolve, reject) => stream.on("error", reject).resume().once("close", resolve));
    }
    session.destroy();
    const others = sent.map(({ x, y }) => ({ x, y }));
    expect(served.requests.map(({ x, y }) => ({ x, y }))).toEqual(others);
    for (const [index, { authority }] of sent.entries())
      expect([authority, expect.stringMatching(/^a+$/)]).toContainEqual(
        served.requests[index]?.[":authority"],
      );
  },
);

test("an entry that no table of 4,096 bytes can hold any more is forgotten: a client cannot fill our memory", () => {
  const readFields = createFieldReader();
  const added = (name: string) =>
    Buffer.concat([Buffer.from([0x40, name.length]), Buffer.from(name), Buffer.from([1, 0x61])]);
  readFields(added(":authority"));
  for (let count = 0; count < 200; count++) readFields(added("x"));
  // A literal whose name is that of entry 62 + 200, the first one.
  const block = Buffer.from([0x0f, 0xf7, 0x01, 2, 0x2f, 0x70]);
  const sent = Buffer.from(block);
  expect(readFields(block)).toBeUndefined();
  expect(block).toEqual(sent);
});

test("header fields of 65,536 bytes are read, and those of one more are not", () => {
  // Each counts 32 bytes more than its name and value.
  const field = (valueBytes: number) =>
    Buffer.concat([
      Buffer.from([0, 1, 0x78, 0x7f]),
      Buffer.from([((valueBytes - 127) % 128) | 0x80, (valueBytes - 127) >> 7]),
      Buffer.alloc(valueBytes, "y"),
    ]);
  const read = (lastBytes: number) =>
    createFieldReader()(Buffer.concat([...Array.from({ length: 7 }, () => field(8_159)), field(lastBytes)]));
  expect(read(8_159)).toBeUndefined();
  expect(() => read(8_160)).toThrow("header fields of more than 65536 bytes");
});
