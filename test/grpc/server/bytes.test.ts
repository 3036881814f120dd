import { callUnary, createUnixClient } from "../../../src/grpc/client/unary";
import { CLIENT_PREFACE, MAX_MESSAGE_BYTES } from "../../../src/grpc/guard/frames";
import { protos } from "../../../src/grpc/protos";
import { eventually } from "../../support/eventually";
import { INFO, serveGrpc } from "../served-grpc";
import { bytesOf, frame, getInfoCall, HELLO, PING, SETTINGS, WINDOW_UPDATE } from "../wire";

test("the server sends and decodes nothing before a client's preface", async () => {
  await using served = await serveGrpc();
  using client = await served.connectNext();
  const { accepted } = client;
  client.socket.write(CLIENT_PREFACE.subarray(0, -1));
  await eventually(() => expect(accepted.bytesRead).toBe(CLIENT_PREFACE.length - 1));
  expect(accepted.bytesWritten).toBe(0);
  client.socket.write(CLIENT_PREFACE.subarray(-1));
  await client.until(() => client.frames.some(({ type }) => type === SETTINGS));
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

test("a client that reads no answers is not read further, and few of its answers are kept", async () => {
  const getInfo = () => ({ ...INFO, endpoint: "x".repeat(1_000_000) });
  await using served = await serveGrpc({ getInfo });
  using client = await served.connectNext();
  const { accepted } = client;
  client.socket.pause();
  const windows = Buffer.concat([
    frame(SETTINGS, 0, 0, bytesOf("0004 7fffffff")),
    frame(WINDOW_UPDATE, 0, 0, bytesOf("7fff0000")),
  ]);
  const calls = [1, 3, 5, 7].map((streamId) => getInfoCall(streamId, "localhost"));
  client.socket.write(Buffer.concat([HELLO, windows, ...calls]));
  await eventually(() => expect(accepted.isPaused()).toBe(true));
  expect(accepted.writableLength).toBeLessThan(2 * 65_536);
  client.socket.write(frame(PING, 0, 0, Buffer.alloc(8))); // Read when there is room again.
  client.socket.resume();
  for (const streamId of [1, 3, 5, 7]) expect(await client.statusOf(streamId)).toBe("0");
  await client.until(() => client.frames.some(({ type }) => type === PING));
});
