import { once } from "node:events";
import { MAX_FRAME_BYTES } from "../../src/grpc/http2/frames";
import { eventually } from "../support/eventually";
import { connectRaw, serveAcceptor } from "./served-acceptor";
import { DATA, END_HEADERS, frame, grpcHeaders, HEADERS, HELLO, headerBlock, PING, SETTINGS } from "./wire";

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
      frame(HEADERS, END_HEADERS, streamId, headerBlock(...grpcHeaders("localhost"))),
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
  const head = frame(HEADERS, END_HEADERS, 1, headerBlock(...grpcHeaders("localhost")));
  const begun = [message.subarray(0, MAX_FRAME_BYTES), message.subarray(0, 100)];
  client.socket.write(Buffer.concat([HELLO, head, ...begun.map((piece) => frame(DATA, 0, 1, piece))]));
  const updates = () => client.frames.filter(({ type }) => type === WINDOW_UPDATE);
  await client.until(() => updates().length > 0);
  const told = updates().map(({ streamId, payload }) => [streamId, payload.readUInt32BE()]);
  expect(told).toEqual([[0, MAX_FRAME_BYTES]]);
});

test("a client that reads no answer is not read any further, and keeps few of them here", async () => {
  await using served = await serveAcceptor();
  using client = connectRaw(served.path);
  const [[socket]] = await Promise.all([served.accepted(), once(client.socket, "connect")]);
  client.socket.pause();
  const pings = Buffer.concat(Array.from({ length: 1_000 }, () => frame(PING, 0, 0, Buffer.alloc(8))));
  client.socket.write(HELLO);
  let most = 0;
  socket.on("data", () => {
    most = Math.max(most, socket.writableLength);
  });
  const flood = () => {
    while (client.socket.writable && client.socket.write(pings)) {}
  };
  client.socket.on("drain", flood);
  flood();
  await eventually(() => expect(socket.isPaused()).toBe(true));
  // An answer has the length of its PING, and a chunk of the client's 64 kB at most.
  expect(most).toBeLessThan(2 * 65_536);
  client.socket.resume();
  await eventually(() => expect(client.frames.length).toBeGreaterThan(5_000));
});
