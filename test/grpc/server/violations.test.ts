import { CLIENT_PREFACE } from "../../../src/grpc/http2/frames";
import { eventually } from "../../support/eventually";
import { connectRaw, serveGrpc } from "../served-grpc";
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
  headerBlock,
  PADDED,
  PING,
  PRIORITY,
  randomChunks,
  SETTINGS,
} from "../wire";

const LIMITS = { maxHeaderBytes: 1_000, maxHeaderFields: 8 };
const WINDOW_UPDATE = 8;

const ascii = (text: string) => Buffer.from(text, "latin1");
const afterHello = (...frames: Buffer[]) => Buffer.concat([HELLO, ...frames]);
const block = headerBlock(...grpcHeaders("localhost"));
const setting = (id: number, value: string) => frame(SETTINGS, 0, 0, bytesOf(`000${id} ${value}`));

test.each<[string, Buffer, string | RegExp]>([
  ["HTTP/1", ascii("GET /healthz HTTP/1.1\r\n"), /^not HTTP\/2: begins with "G/],
  ["TLS", bytesOf("160301"), /^not HTTP\/2: begins with "\\x16/],
  ["control characters and quotes", ascii('\x1b[2J"\\\x9b'), /^not HTTP\/2: begins with "\\x1b/],
  [
    "a preface with its last byte wrong",
    Buffer.concat([CLIENT_PREFACE.subarray(0, 23), ascii("x")]),
    /^not HTTP\/2: begins with "PRI/,
  ],
  [
    "an acknowledgement as the first SETTINGS",
    Buffer.concat([CLIENT_PREFACE, frame(SETTINGS, 1, 0)]),
    "a client that does not begin with SETTINGS",
  ],
  ["SETTINGS of a stream", afterHello(frame(SETTINGS, 0, 1)), "SETTINGS of a stream"],
  [
    "an acknowledgement with settings in it",
    afterHello(frame(SETTINGS, 1, 0, Buffer.alloc(6))),
    "an acknowledgement of SETTINGS that says something",
  ],
  ["pushes that are neither on nor off", afterHello(setting(2, "00000002")), "SETTINGS_ENABLE_PUSH 2"],
  ["frames that are too small", afterHello(setting(5, "00003fff")), "SETTINGS_MAX_FRAME_SIZE 16383"],
  ["frames that are too large", afterHello(setting(5, "01000000")), "SETTINGS_MAX_FRAME_SIZE 16777216"],
  ["a PING of 7 bytes", afterHello(frame(PING, 0, 0, Buffer.alloc(7))), "a frame of type 6 with 7 bytes"],
  ["a PING of a stream", afterHello(frame(PING, 0, 1, Buffer.alloc(8))), "a PING of a stream"],
  [
    "a window of a stream that was never begun",
    afterHello(frame(WINDOW_UPDATE, 0, 1, bytesOf("00000001"))),
    "WINDOW_UPDATE of no call",
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
    afterHello(frame(HEADERS, END_HEADERS, 1, block), frame(DATA, PADDED, 1, bytesOf("01"))),
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
  [
    "a second header block that does not end its call",
    afterHello(
      frame(HEADERS, END_HEADERS, 1, block),
      frame(HEADERS, END_HEADERS, 1, headerBlock(["x", "y"])),
    ),
    "a second header block in a call",
  ],
])("%s closes the connection, and nothing after it is read", async (_name, bytes, reason) => {
  await using served = await serveGrpc({ limits: LIMITS });
  for (const chunks of [[bytes], randomChunks(bytes, () => 0, 1)]) {
    const accepted = served.accepted();
    using client = connectRaw(served.path);
    const [socket] = await accepted;
    // As if the kernel had cut it so.
    for (const chunk of [...chunks, getInfoCall(99, "localhost")]) socket.emit("data", chunk);
    await client.closed;
    await eventually(() => expect(served.server.connections.open).toBe(0));
    const { lastRejection } = served.server.connections;
    if (typeof reason === "string") expect(lastRejection).toBe(reason);
    else expect(lastRejection).toMatch(reason);
  }
  expect(served.server.connections).toMatchObject({ accepted: 2, rejected: 2 });
});

test.each<[string, Buffer]>([
  [
    "eight CONTINUATION frames",
    Buffer.concat([
      frame(HEADERS, 0, 1, block),
      ...Array(7).fill(frame(CONTINUATION, 0, 1)),
      frame(CONTINUATION, END_HEADERS, 1),
      frame(DATA, END_STREAM, 1, Buffer.alloc(5)),
    ]),
  ],
  [
    "a block of just the bound, padded",
    Buffer.concat([
      frame(
        HEADERS,
        PADDED | END_HEADERS,
        1,
        Buffer.concat([
          Buffer.of(255),
          block,
          headerBlock(["x", "y".repeat(1_000 - 256 - block.length - 6)]),
          Buffer.alloc(255),
        ]),
      ),
      frame(DATA, END_STREAM, 1, Buffer.alloc(5)),
    ]),
  ],
  [
    "a message in padded frames, and trailers",
    Buffer.concat([
      frame(HEADERS, END_HEADERS, 1, block),
      frame(DATA, PADDED, 1, bytesOf("02 0000 ffff")),
      frame(DATA, PADDED, 1, bytesOf("00 000000")),
      frame(HEADERS, END_HEADERS | END_STREAM, 1, headerBlock(["x", "y"])),
    ]),
  ],
])("%s are taken", async (_name, call) => {
  await using served = await serveGrpc({ limits: LIMITS });
  using client = connectRaw(served.path);
  client.socket.write(afterHello(call));
  expect(await client.statusOf(1)).toBe("0");
});

test("a client that says goodbye has its call answered first, and breaks no rule", async () => {
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await using served = await serveGrpc({ getInfo: () => asked.then(() => ({ name: "x" }) as never) });
  using client = connectRaw(served.path);
  client.socket.write(afterHello(getInfoCall(1, ""), frame(GOAWAY, 0, 0, Buffer.alloc(8))));
  await client.until(() => client.frames.some(({ type }) => type === GOAWAY));
  answer();
  expect(await client.statusOf(1)).toBe("0");
  await client.closed;
  expect(served.server.connections).toMatchObject({ rejected: 0, cutBeforeCall: 0 });
});

test("a client that breaks a rule is told which, by GOAWAY", async () => {
  await using served = await serveGrpc();
  using client = connectRaw(served.path);
  client.socket.write(afterHello(getInfoCall(1, ""), frame(PING, 0, 1, Buffer.alloc(8))));
  await client.closed;
  const last = client.frames.at(-1);
  const text = last?.payload.subarray(8).toString();
  expect([last?.type, last?.payload.readUInt32BE(0), last?.payload.readUInt32BE(4), text]).toEqual([
    GOAWAY,
    1,
    1,
    "a PING of a stream",
  ]);
});
