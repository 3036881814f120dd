import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { createClientConnection } from "../../src/grpc/client-connection";
import { eventually } from "../support/eventually";
import { createTempFolder } from "../support/temp-folder";
import { DATA, END_HEADERS, frame, GOAWAY, grpcHeaders, HEADERS, HELLO, headerBlock } from "./wire";

const OPTIONS = { maxHeaderBytes: 16_384, maxHeaderFields: 64, isServed: () => true };
const A_FRAME = frame(DATA, 0, 1, Buffer.alloc(16_384, "d"));
const MANY = 200;

/** Both ends of one connection: the client's socket, and the connection made of the server's. */
async function connectedPair() {
  const folder = await createTempFolder();
  const server = createServer({ allowHalfOpen: false }).listen(folder.at("s"));
  await once(server, "listening");
  const client = connect({ path: folder.at("s"), allowHalfOpen: true });
  const [socket] = (await once(server, "connection")) as [Socket];
  const connection = createClientConnection(socket, OPTIONS);
  const errors: unknown[] = [];
  connection.stream.on("error", (error) => errors.push(error));
  client.on("error", () => {});
  return {
    client,
    socket,
    ...connection,
    connection,
    errors,
    async [Symbol.asyncDispose]() {
      client.destroy();
      connection.stream.destroy();
      server.close();
      await once(server, "close");
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("a server that does not read stops the client, and loses nothing", async () => {
  await using pair = await connectedPair();
  const { client, socket, stream } = pair;
  client.write(HELLO);
  const stopped = once(socket, "pause");
  for (let count = 0; count < MANY; count++) client.write(A_FRAME);
  await stopped;
  // What may wait here: the stream's high-water mark, and the chunk that went over it.
  expect(stream.readableLength).toBeLessThan(stream.readableHighWaterMark + 65_536);

  let bytes = 0;
  stream.on("data", (piece: Buffer) => {
    bytes += piece.length;
  });
  const ended = once(stream, "end");
  client.end();
  await ended;
  expect(bytes).toBe(HELLO.length + MANY * A_FRAME.length);
});

test("a client that does not read stops the server, and loses nothing", async () => {
  await using pair = await connectedPair();
  const { client, socket, stream } = pair;
  client.pause();
  let taken = 0;
  for (let count = 0; count < MANY; count++) {
    stream.write(A_FRAME, () => {
      taken += 1;
    });
  }
  await eventually(() => expect(socket.writableLength).toBeGreaterThan(0));
  expect(taken).toBeLessThan(MANY);
  expect(socket.writableLength).toBeLessThanOrEqual(A_FRAME.length);

  let bytes = 0;
  client.on("data", (piece: Buffer) => {
    bytes += piece.length;
  });
  client.resume();
  stream.end();
  await once(client, "end");
  expect(bytes).toBe(MANY * A_FRAME.length);
});

test("when the server ends, the client is sent what is left and cut off, even if it never hangs up", async () => {
  await using pair = await connectedPair();
  const { client, socket, stream } = pair;
  let bytes = 0;
  client.on("data", (piece: Buffer) => {
    bytes += piece.length;
  });
  const ended = once(client, "end");
  stream.write(A_FRAME);
  stream.end();
  await Promise.all([ended, once(stream, "close")]);
  expect(bytes).toBe(A_FRAME.length);
  expect(socket.destroyed).toBe(true);
});

test("nothing is emitted as an error when the socket fails", async () => {
  await using pair = await connectedPair();
  pair.stream.resume();
  pair.socket.destroy(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }));
  await once(pair.stream, "close");
  expect(pair.errors).toEqual([]);
  expect(pair.connection.violation).toBeUndefined();
});

test("nothing is emitted as an error when the server writes after all is over", async () => {
  await using pair = await connectedPair();
  pair.stream.destroy(new Error("the session failed"));
  await once(pair.stream, "close");
  pair.stream.write(A_FRAME);
  pair.stream.end();
  await new Promise((resolve) => setImmediate(resolve));
  expect(pair.errors).toEqual([]);
  expect(pair.socket.destroyed).toBe(true);
});

test("a violation destroys both sides and says why", async () => {
  await using pair = await connectedPair();
  pair.stream.resume();
  pair.client.write("SSH-2.0-OpenSSH_9.9\r\n");
  await once(pair.stream, "close");
  expect(pair.socket.destroyed).toBe(true);
  expect(pair.connection.violation).toBe('not HTTP/2: begins with "SSH-2.0-OpenSSH_9.9\\x0d\\x0a"');
});

test("a server's GOAWAY with an error reaches the client, then the connection is closed", async () => {
  await using pair = await connectedPair();
  const received: Buffer[] = [];
  pair.client.on("data", (piece: Buffer) => received.push(piece));
  const goaway = frame(GOAWAY, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, 9]));
  pair.stream.write(goaway);
  await Promise.all([once(pair.stream, "close"), once(pair.client, "end")]);
  expect(Buffer.concat(received).equals(goaway)).toBe(true);
  expect(pair.connection.violation).toBe("refused by Node's HTTP/2: COMPRESSION_ERROR");
});

test.each([
  ["a server that only says goodbye", Buffer.alloc(8), false],
  ["a client that has said goodbye itself", Buffer.from([0, 0, 0, 0, 0, 0, 0, 2]), true],
])("%s blames nobody", async (_name, payload, clientFirst) => {
  await using pair = await connectedPair();
  const seen = once(pair.stream.resume(), "end");
  pair.client.end(
    Buffer.concat([HELLO, clientFirst ? frame(GOAWAY, 0, 0, Buffer.alloc(8)) : Buffer.alloc(0)]),
  );
  await seen;
  pair.stream.write(frame(GOAWAY, 0, 0, payload));
  pair.stream.end();
  await once(pair.stream, "close");
  expect(pair.connection.violation).toBeUndefined();
});

test("calls are counted by the frames that go by", async () => {
  await using pair = await connectedPair();
  const { client, stream, calls } = pair;
  expect(calls).toMatchObject({ everCalled: false, running: 0 });
  client.write(HELLO);
  client.write(frame(HEADERS, END_HEADERS, 1, headerBlock(...grpcHeaders("/raw"))));
  stream.resume();
  await eventually(() => expect(calls.running).toBe(1));
  expect(calls.everCalled).toBe(true);
  stream.write(frame(DATA, 1, 1));
  await eventually(() => expect(calls.running).toBe(0));
  expect(calls.everCalled).toBe(true);
});

test("a server that hangs up without a word does so because of the client", async () => {
  await using pair = await connectedPair();
  pair.client.write(HELLO);
  await once(pair.stream, "data");
  pair.stream.end();
  await once(pair.stream, "close");
  expect(pair.connection.violation).toBe("refused by Node's HTTP/2");
});

test("a server that hangs up because the client did blames nobody", async () => {
  await using pair = await connectedPair();
  const ended = once(pair.stream.resume(), "end");
  pair.client.end(HELLO);
  await ended;
  pair.stream.end();
  await once(pair.stream, "close");
  expect(pair.connection.violation).toBeUndefined();
});

test("a second message in a call is a violation", async () => {
  await using pair = await connectedPair();
  pair.stream.resume();
  pair.client.write(Buffer.concat([HELLO, frame(HEADERS, END_HEADERS, 1, headerBlock(...grpcHeaders("x")))]));
  pair.client.write(Buffer.concat([frame(DATA, 0, 1, Buffer.alloc(5)), frame(DATA, 0, 1, Buffer.alloc(1))]));
  await once(pair.stream, "close");
  expect(pair.connection.violation).toBe("a call of more than one message");
});

test("a client that says goodbye and then breaks the rules cannot keep the connection by half", async () => {
  await using pair = await connectedPair();
  const goodbye = Buffer.concat([HELLO, frame(GOAWAY, 0, 0, Buffer.alloc(8))]);
  pair.client.resume().write(goodbye);
  await once(pair.stream, "data");
  pair.stream.write(frame(GOAWAY, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])));
  await once(pair.stream, "close"); // The client has not hung up, nor has the server.
  expect(pair.connection.violation).toBeUndefined();
});
