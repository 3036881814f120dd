import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { MAX_FRAME_BYTES } from "../../src/grpc/http2/frames";
import { eventually } from "../support/eventually";
import { openCall, times } from "./attacks/attack";
import { connectRaw, serveAcceptor } from "./served-acceptor";
import { DATA, END_STREAM, frame, getInfoCall, HEADERS, HELLO, SETTINGS } from "./wire";

const WINDOW_UPDATE = 8;

test("nothing is sent to, nor decoded for, a client that has not said what every client begins with", async () => {
  await using served = await serveAcceptor();
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

test("all unfinished requests of a connection together may have as many bytes as one message", async () => {
  await using served = await serveAcceptor({ limits: { maxMessageBytes: 100 } });
  using client = connectRaw(served.path);
  const half = (streamId: number) =>
    Buffer.concat([
      openCall(streamId),
      frame(DATA, 0, streamId, Buffer.concat([Buffer.from([0, 0, 0, 0, 100]), Buffer.alloc(40)])),
    ]);
  client.socket.write(Buffer.concat([HELLO, half(1), half(3), half(5)]));
  expect(await client.statusOf(5)).toBe("8");
  expect(client.frames.filter(({ type }) => type === HEADERS).map(({ streamId }) => streamId)).toEqual([5]);
});

test("a client that sends much is given room for more", async () => {
  await using served = await serveAcceptor();
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
  await using served = await serveAcceptor();
  using client = connectRaw(served.path);
  const request = (streamId: number) => [
    openCall(streamId),
    frame(DATA, 0, streamId, Buffer.alloc(5)),
    times(60, () => frame(DATA, 0, streamId)),
  ];
  const ends = [1, 3, 5, 7].map((streamId) => frame(DATA, END_STREAM, streamId));
  client.socket.write(Buffer.concat([HELLO, ...[1, 3, 5, 7].flatMap(request), ...ends]));
  expect(await client.statusOf(7)).toBe("0");
});

test("a client that reads no answer is not read any further, and keeps few of them here", async () => {
  await using served = await serveAcceptor();
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
