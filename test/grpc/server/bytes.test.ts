import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { MAX_FRAME_BYTES } from "../../../src/grpc/http2/frames";
import { protos } from "../../../src/grpc/protos";
import { withMessagePrefix } from "../../../src/grpc/server/unary-request";
import { eventually } from "../../support/eventually";
import { openCall, times } from "../attacks/attack";
import { connectRaw, gate, serveGrpc } from "../served-grpc";
import {
  bytesOf,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  getInfoCall,
  grpcHeaders,
  HEADERS,
  HELLO,
  headerBlock,
  PING,
  SETTINGS,
} from "../wire";

const WINDOW_UPDATE = 8;

test("nothing is sent to, nor decoded for, a client that has not said what every client begins with", async () => {
  await using served = await serveGrpc();
  using client = connectRaw(served.path);
  const [[socket]] = await Promise.all([served.accepted(), once(client.socket, "connect")]);
  client.socket.write(HELLO.subarray(0, -1));
  await eventually(() => expect(socket.bytesRead).toBe(HELLO.length - 1));
  expect(socket.bytesWritten).toBe(0);
  client.socket.write(HELLO.subarray(-1));
  await client.until(() => client.frames.length === 2); // Our settings, and that we have heard of theirs.
  expect(client.frames.map(({ type, flags }) => [type, flags])).toEqual([
    [SETTINGS, 0],
    [SETTINGS, 1],
  ]);
});

test("all unfinished requests may have as many bytes as one message, beside 64 kB of each connection", async () => {
  await using served = await serveGrpc({ limits: { maxMessageBytes: 100_000 } });
  using first = connectRaw(served.path);
  using second = connectRaw(served.path);
  const most = (streamId: number, bytes: number) =>
    Buffer.concat([
      openCall(streamId),
      frame(DATA, 0, streamId, Buffer.concat([bytesOf("00 00018000"), Buffer.alloc(10_000)])),
      times(bytes / 10_000 - 1, () => frame(DATA, 0, streamId, Buffer.alloc(10_000))),
    ]);
  const sync = async ({ socket, until, frames }: typeof first) => {
    socket.write(frame(PING, 0, 0, Buffer.alloc(8)));
    await until(() => frames.some(({ type }) => type === PING));
  };
  first.socket.write(Buffer.concat([HELLO, most(1, 60_000)]));
  await sync(first);
  second.socket.write(Buffer.concat([HELLO, most(1, 60_000)]));
  await sync(second);
  first.socket.write(most(3, 10_000));
  expect(await first.statusOf(3)).toBe("8");
  for (const { frames } of [first, second])
    expect(frames.some(({ type, streamId }) => type === HEADERS && streamId === 1)).toBe(false);
});

test.each([
  ["a text of 70 kB", 70_000, 16_384],
  ["the largest message that gRPC takes", 4_194_300, 16_384],
  ["a message in frames of 10 bytes", 20_000, 10],
])("takes %s", async (_what, bytes, frameBytes) => {
  await using served = await serveGrpc();
  using client = connectRaw(served.path);
  const status = { pluginRegistered: false, error: "" };
  const empty = protos.registration.NotifyRegistrationStatus.requestSerialize(status).length;
  status.error = "x".repeat(bytes - empty - 5);
  const message = withMessagePrefix(protos.registration.NotifyRegistrationStatus.requestSerialize(status));
  const head = headerBlock(...grpcHeaders("localhost", "NotifyRegistrationStatus"));
  client.socket.write(Buffer.concat([HELLO, frame(HEADERS, END_HEADERS, 1, head)]));
  for (let at = 0; at < message.length; at += frameBytes)
    client.socket.write(frame(DATA, 0, 1, message.subarray(at, at + frameBytes)));
  client.socket.write(frame(DATA, END_STREAM, 1));
  expect(await client.statusOf(1)).toBe("0");
  expect(served.notices.map(({ error }) => error.length)).toEqual([status.error.length]);
});

test("requests that are being handled are not unfinished", async () => {
  const { getInfo, open } = gate();
  await using served = await serveGrpc({ limits: { maxMessageBytes: 100_000 }, getInfo });
  using client = connectRaw(served.path);
  const unknownField = Buffer.concat([bytesOf("7a f0a204"), Buffer.alloc(70_000)]); // Field 15: a text of 70,000 bytes.
  const message = withMessagePrefix(unknownField);
  const call = (streamId: number) =>
    Buffer.concat([
      openCall(streamId),
      times(Math.ceil(message.length / 10_000), (index) =>
        frame(DATA, 0, streamId, message.subarray(index * 10_000, (index + 1) * 10_000)),
      ),
      frame(DATA, END_STREAM, streamId),
    ]);
  client.socket.write(Buffer.concat([HELLO, call(1), call(3)]));
  client.socket.write(frame(PING, 0, 0, Buffer.alloc(8)));
  await client.until(() => client.frames.some(({ type }) => type === PING));
  open();
  expect([await client.statusOf(1), await client.statusOf(3)]).toEqual(["0", "0"]);
});

test("a client that sends much is given room for more", async () => {
  await using served = await serveGrpc();
  using client = connectRaw(served.path);
  const message = Buffer.alloc(2 * MAX_FRAME_BYTES);
  message.writeUInt32BE(message.length, 1);
  const begun = [message.subarray(0, MAX_FRAME_BYTES), message.subarray(0, 100)];
  client.socket.write(Buffer.concat([HELLO, openCall(1), ...begun.map((piece) => frame(DATA, 0, 1, piece))]));
  const updates = () => client.frames.filter(({ type }) => type === WINDOW_UPDATE);
  await client.until(() => updates().length > 0);
  const told = updates().map(({ streamId, payload }) => [streamId, payload.readUInt32BE()]);
  expect(told).toEqual([[0, MAX_FRAME_BYTES]]);
});

test("the frames of calls that go on are no flood", async () => {
  await using served = await serveGrpc();
  using client = connectRaw(served.path);
  const request = (streamId: number) => [
    openCall(streamId),
    frame(DATA, 0, streamId, bytesOf("00 0000003e 0a 3c")), // A field with a text of 60 bytes.
    times(60, () => frame(DATA, 0, streamId, Buffer.of(97))),
  ];
  const ends = [1, 3, 5, 7].map((streamId) => frame(DATA, END_STREAM, streamId));
  client.socket.write(Buffer.concat([HELLO, ...[1, 3, 5, 7].flatMap(request), ...ends]));
  expect(await client.statusOf(7)).toBe("0");
});

test("a client that reads no answer is not read any further, and keeps few of them here", async () => {
  await using served = await serveGrpc();
  using client = connectRaw(served.path);
  const [[socket]] = await Promise.all([served.accepted(), once(client.socket, "connect")]);
  client.socket.pause();
  client.socket.write(HELLO);
  let most = 0;
  socket.on("data", () => {
    most = Math.max(most, socket.writableLength);
  });
  let sent = 0;
  for (; !socket.isPaused(); sent++) {
    client.socket.write(getInfoCall(2 * sent + 1, "localhost"));
    await nextTurn();
  }
  expect(most).toBeLessThan(2 * 65_536);
  client.socket.write(getInfoCall(2 * sent++ + 1, "localhost")); // Read when there is room again.
  client.socket.resume();
  const answers = () => client.frames.filter(({ type, flags }) => type === HEADERS && flags & END_STREAM);
  await eventually(() => expect(answers()).toHaveLength(sent));
});
