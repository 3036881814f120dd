import { once } from "node:events";
import { callUnary, createUnixClient } from "../../../src/grpc/client/unary";
import { CLIENT_PREFACE, FrameType, MAX_MESSAGE_BYTES } from "../../../src/grpc/guard/frames";
import { protos } from "../../../src/grpc/protos";
import { eventually } from "../../support/eventually";
import { openCall, times } from "../attacks/attack";
import { connectRaw, INFO, serveGrpc } from "../served-grpc";
import { bytesOf, DATA, END_STREAM, frame, getInfoCall, HELLO, PING, SETTINGS } from "../wire";

test("nothing is sent to, nor decoded for, a client that has not said what every client begins with", async () => {
  await using served = await serveGrpc();
  using client = connectRaw(served.path);
  const [[socket]] = await Promise.all([served.accepted(), once(client.socket, "connect")]);
  client.socket.write(CLIENT_PREFACE.subarray(0, -1));
  await eventually(() => expect(socket.bytesRead).toBe(CLIENT_PREFACE.length - 1));
  expect(socket.bytesWritten).toBe(0);
  client.socket.write(CLIENT_PREFACE.subarray(-1));
  await client.until(() => client.frames.some(({ type }) => type === SETTINGS));
});

test("all unfinished requests may have as many bytes as one message, beside 64 kB of each connection", async () => {
  await using served = await serveGrpc({ limits: { maxUnfinishedBytes: 100_000 } });
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
  await first.closed;
  expect(served.server.connections.lastRejection).toBe("too many bytes of unfinished requests");
  second.socket.write(most(3, 40_000)); // What the first had is free again.
  await second.until(() => second.frames.filter(({ type }) => type === PING).length === 1);
  expect(second.socket.destroyed).toBe(false);
});

test.each([
  ["a text of 70 kB", 70_000],
  ["the largest message that gRPC takes", MAX_MESSAGE_BYTES],
])("takes %s", async (_what, bytes) => {
  await using served = await serveGrpc();
  const client = createUnixClient(served.path);
  const { NotifyRegistrationStatus } = protos.registration;
  const empty = NotifyRegistrationStatus.requestSerialize({ pluginRegistered: false, error: "" }).length;
  const status = { pluginRegistered: false, error: "x".repeat(bytes - empty - 5) };
  expect(await callUnary(client, NotifyRegistrationStatus, status, { timeoutMs: 60_000 })).toEqual({});
  expect(served.notices.map(({ error }) => error.length)).toEqual([status.error.length]);
  client.close();
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
  const getInfo = () => ({ ...INFO, endpoint: "x".repeat(1_000_000) });
  await using served = await serveGrpc({ getInfo });
  using client = connectRaw(served.path);
  const [[socket]] = await Promise.all([served.accepted(), once(client.socket, "connect")]);
  client.socket.pause();
  const windows = Buffer.concat([
    frame(SETTINGS, 0, 0, bytesOf("0004 7fffffff")),
    frame(FrameType.WINDOW_UPDATE, 0, 0, bytesOf("7fff0000")),
  ]);
  const calls = [1, 3, 5, 7].map((streamId) => getInfoCall(streamId, "localhost"));
  client.socket.write(Buffer.concat([HELLO, windows, ...calls]));
  await eventually(() => expect(socket.isPaused()).toBe(true));
  expect(socket.writableLength).toBeLessThan(2 * 65_536);
  client.socket.write(frame(PING, 0, 0, Buffer.alloc(8))); // Read when there is room again.
  client.socket.resume();
  for (const streamId of [1, 3, 5, 7]) expect(await client.statusOf(streamId)).toBe("0");
  await client.until(() => client.frames.some(({ type }) => type === PING));
});
