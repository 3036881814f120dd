import { getEventListeners } from "node:events";
import http2, { createServer, type ServerHttp2Stream } from "node:http2";
import { createServer as createNetServer, type Server, type Socket } from "node:net";
import { bareCall, connectBare } from "../../../src/grpc/client/bare-call";
import { MAX_MESSAGE_BYTES } from "../../../src/grpc/guard/frames";
import { leaveDeadSocket } from "../../support/foreign-socket";
import { createTempFolder } from "../../support/temp-folder";
import { CONTINUATION, frame, HEADERS, headerBlock, SETTINGS } from "../wire";

const PATH = "/csi.v1.Identity/GetPluginInfo";

async function callOn(server: Server, signal?: AbortSignal) {
  await using folder = await createTempFolder();
  const path = folder.at("x.sock");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  try {
    return await bareCall(path, PATH, { timeoutMs: 60_000, signal });
  } finally {
    await new Promise((resolve) => server.close(resolve)); // As soon as the connection has ended.
  }
}

const answering = (answer: (stream: ServerHttp2Stream) => void) =>
  createServer().on("stream", (stream) => {
    stream.on("error", () => {}).respond({}, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    answer(stream);
  });

test.each(["ECONNREFUSED", "ENOENT"])(
  "a bare call's error has the reason why it cannot connect: %s",
  async (errno) => {
    await using folder = await createTempFolder();
    const path = folder.at("x.sock");
    if (errno === "ECONNREFUSED") await leaveDeadSocket(path);
    await expect(bareCall(path, PATH, { timeoutMs: 60_000 })).rejects.toThrow(
      `14 UNAVAILABLE: connect ${errno} ${path}`,
    );
  },
);

test("a bare call accepts gRPC's largest message", async () => {
  const { grpcStatus, message } = await callOn(
    answering((stream) => stream.end(Buffer.alloc(5 + MAX_MESSAGE_BYTES))),
  );
  expect([grpcStatus, message.length]).toEqual(["0", MAX_MESSAGE_BYTES]);
});

test.each([
  ["no%20disk%E2%80%A6", "no disk\u2026"],
  ["100% full", "100% full"],
])("a bare call reads a failure without an answer, whose text is %j", async (text, details) => {
  const server = createServer().on("stream", (stream) => {
    stream.respond({ "grpc-status": "5", "grpc-message": text }, { endStream: true });
  });
  expect(await callOn(server)).toMatchObject({ grpcStatus: "5", details, message: Buffer.alloc(0) });
});

test("calls over one connection leave nothing on it, on their signal, or in time", async () => {
  await using folder = await createTempFolder();
  const server = answering((stream) => stream.end(Buffer.alloc(5)));
  await new Promise<void>((resolve) => server.listen(folder.at("x.sock"), resolve));
  const connecting = jest.spyOn(http2, "connect");
  const { signal } = new AbortController();
  const countTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = countTimers();
  const connection = await connectBare(folder.at("x.sock"));
  const { value: session } = connecting.mock.results[0] ?? {};
  const listeners = session.listenerCount("error");
  const CALLS = 2;
  for (let count = 0; count < CALLS; count++) await connection.call(PATH, { timeoutMs: 60_000, signal });
  for (let count = 0; count < CALLS; count++) expect(await connection.ping(60_000)).toBe(true);
  expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(countTimers() - before).toBeLessThan(CALLS);
  expect(session.listenerCount("error")).toBe(listeners);
  connection.close();
  expect(await connection.ping(60_000)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
});

test("a bare call ends at once if its signal was aborted before", async () => {
  const call = callOn(
    answering(() => {}),
    AbortSignal.abort(),
  );
  await expect(call).rejects.toThrow("1 CANCELLED: aborted during the call");
});

test("a bare call disconnects a server that sends without end", async () => {
  const chunk = Buffer.alloc(65_536);
  let sent = 0;
  const send = (stream: ServerHttp2Stream): void => {
    sent += chunk.length;
    stream.write(chunk, (error) => {
      if (!error) send(stream);
    });
  };
  await expect(callOn(answering(send))).rejects.toThrow("an answer of more than 4194304 bytes");
  expect(sent).toBeLessThan(2 * MAX_MESSAGE_BYTES);
});

test("an endless header block does not crash the process, which it does with Node 20's HTTP/2", async () => {
  const fields = headerBlock(["x-a", "hello"]);
  const flood = createNetServer((socket: Socket) => {
    socket.on("error", () => {}).write(frame(SETTINGS, 0, 0));
    socket.once("data", () => {
      const few = Array.from({ length: 7 }, () => frame(CONTINUATION, 0, 1, fields));
      const many = Array.from({ length: 7 }, () =>
        frame(CONTINUATION, 0, 1, Buffer.concat(Array(1_000).fill(fields))),
      );
      socket.write(Buffer.concat([frame(HEADERS, 0, 1, headerBlock([":status", "200"])), ...few, ...many]));
    });
  });
  await expect(callOn(flood)).rejects.toThrow();
});
