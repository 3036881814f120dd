import { CLIENT_PREFACE } from "../../../src/grpc/http2/frames";
import { eventually } from "../../support/eventually";
import { connectRaw, gate, serveGrpc } from "../served-grpc";
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

const block = headerBlock(...grpcHeaders("localhost"));
const beginning = frame(HEADERS, 0, 1, block);
const head = frame(HEADERS, END_HEADERS, 1, block);
const last = frame(CONTINUATION, END_HEADERS, 1);
const nothing = frame(DATA, END_STREAM, 1, Buffer.alloc(5));
const afterHello = (...frames: Buffer[]) => Buffer.concat([HELLO, ...frames]);
const setting = (id: number, value: string) =>
  afterHello(frame(SETTINGS, 0, 0, bytesOf(`000${id} ${value}`)));
const shortHead = (flags: number, hex: string) =>
  afterHello(frame(HEADERS, flags | END_HEADERS, 1, bytesOf(hex)));
const TOO_SHORT = "a HEADERS frame too short for its padding or priority";

/** Beside those of ../attacks, which come in one piece. */
test.each<[reason: string, bytes: Buffer]>([
  [String.raw`not HTTP/2: begins with "\x1b[2J\x22\x5c\x9b"`, Buffer.from('\x1b[2J"\\\x9b', "latin1")],
  ["a client that does not begin with SETTINGS", Buffer.concat([CLIENT_PREFACE, frame(SETTINGS, 1, 0)])],
  ["SETTINGS of a stream", afterHello(frame(SETTINGS, 0, 1))],
  ["an acknowledgement of SETTINGS that says something", afterHello(frame(SETTINGS, 1, 0, Buffer.alloc(6)))],
  ["SETTINGS_ENABLE_PUSH 2", setting(2, "00000002")],
  ["SETTINGS_MAX_FRAME_SIZE 16383", setting(5, "00003fff")],
  ["SETTINGS_MAX_FRAME_SIZE 16777216", setting(5, "01000000")],
  ["a frame of type 6 with 7 bytes", afterHello(frame(PING, 0, 0, Buffer.alloc(7)))],
  ["a PING of a stream", afterHello(frame(PING, 0, 1, Buffer.alloc(8)))],
  ["WINDOW_UPDATE of no call", afterHello(frame(WINDOW_UPDATE, 0, 1, bytesOf("00000001")))],
  ["a CONTINUATION frame without a HEADERS frame", afterHello(last)],
  ["a CONTINUATION frame without a HEADERS frame", afterHello(head, last)],
  ["a frame of type 0 inside a header block", afterHello(beginning, nothing)],
  ["a frame of type 1 inside a header block", afterHello(beginning, head)],
  ["a frame of type 9 inside a header block", afterHello(beginning, frame(CONTINUATION, END_HEADERS, 3))],
  ["more than 8 CONTINUATION frames", afterHello(beginning, ...Array(8).fill(frame(CONTINUATION, 0, 1)))],
  ["a header block of more than 1000 bytes", afterHello(frame(HEADERS, END_HEADERS, 1, Buffer.alloc(1_001)))],
  [
    "a header block of more than 1000 bytes",
    afterHello(frame(HEADERS, 0, 1, Buffer.alloc(600)), frame(CONTINUATION, 0, 1, Buffer.alloc(401))),
  ],
  [TOO_SHORT, shortHead(PADDED, "01")],
  [TOO_SHORT, shortHead(PADDED, "")],
  [TOO_SHORT, shortHead(PRIORITY, "80000003")],
  ["a DATA frame too short for its padding", afterHello(head, frame(DATA, PADDED, 1, bytesOf("01")))],
  ["more than 8 header fields", afterHello(frame(HEADERS, END_HEADERS, 1, Buffer.alloc(9, 0x83)))],
  ["a second header block in a call", afterHello(head, head)],
])("%s closes the connection, and nothing after it is read", async (reason, bytes) => {
  await using served = await serveGrpc({ limits: LIMITS });
  for (const chunks of [[bytes], randomChunks(bytes, () => 0, 1)]) {
    const accepted = served.accepted();
    using client = connectRaw(served.path);
    const [socket] = await accepted;
    // As if the kernel had cut it so.
    for (const chunk of [...chunks, getInfoCall(99, "localhost")]) socket.emit("data", chunk);
    await client.closed;
    await eventually(() => expect(served.server.connections.open).toBe(0));
    // At the first wrong byte the rest of a beginning has not come yet.
    expect(reason).toContain(served.server.connections.lastRejection?.replace(/"$/, ""));
  }
  expect(served.server.connections).toMatchObject({ accepted: 2, rejected: 2 });
});

const ofTheBound = Buffer.concat([block, headerBlock(["x", "y".repeat(1_000 - 256 - block.length - 6)])]);

test.each<[string, Buffer[]]>([
  ["eight CONTINUATION frames", [beginning, ...Array(7).fill(frame(CONTINUATION, 0, 1)), last, nothing]],
  [
    "a block of just the bound, padded",
    [
      frame(HEADERS, PADDED | END_HEADERS, 1, Buffer.concat([Buffer.of(255), ofTheBound, Buffer.alloc(255)])),
      nothing,
    ],
  ],
  [
    "a message in padded frames, and trailers",
    [
      head,
      frame(DATA, PADDED, 1, bytesOf("02 0000 ffff")),
      frame(DATA, PADDED, 1, bytesOf("00 000000")),
      frame(HEADERS, END_HEADERS | END_STREAM, 1, headerBlock(["x", "y"])),
    ],
  ],
])("%s are taken", async (_name, frames) => {
  await using served = await serveGrpc({ limits: LIMITS });
  using client = served.connect(HELLO, ...frames);
  expect(await client.statusOf(1)).toBe("0");
});

test("a client that says goodbye has its call answered first, and breaks no rule", async () => {
  const { getInfo, open } = gate();
  await using served = await serveGrpc({ getInfo });
  using client = served.connect(HELLO, getInfoCall(1, ""), frame(GOAWAY, 0, 0, Buffer.alloc(8)));
  await client.until(() => client.frames.some(({ type }) => type === GOAWAY));
  open();
  expect(await client.statusOf(1)).toBe("0");
  await client.closed;
  expect(served.server.connections).toMatchObject({ rejected: 0, cutBeforeCall: 0 });
});

test("a client that breaks a rule is told which, by GOAWAY", async () => {
  await using served = await serveGrpc();
  using client = served.connect(HELLO, getInfoCall(1, ""), frame(PING, 0, 1, Buffer.alloc(8)));
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
