import { once } from "node:events";
import type { Socket } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { textAnswer } from "../../../src/diagnostics/http/answer";
import { MAX_HEAD_BYTES } from "../../../src/diagnostics/http/connection";
import { eventually } from "../../support/eventually";
import { askHttp } from "../../support/http";
import { createSilentRoute, get, hello, serve } from "./support";

/** What comes on a connection that stays open, up to `end`. */
async function answerOn(socket: Socket, end: string): Promise<string> {
  let said = "";
  while (!said.endsWith(end)) said += (await once(socket, "data"))[0].toString("latin1");
  return said;
}

test("an answer says what it is, when, how long, and that the connection goes on", async () => {
  await using server = await serve({ "/hello": hello });
  const socket = await server.dial(get("/hello"));
  const [head = "", body] = (await answerOn(socket, "hello")).split("\r\n\r\n");
  const [status, ...fields] = head.split("\r\n");
  expect([status, body]).toEqual(["HTTP/1.1 200 OK", "hello"]);
  expect(fields.filter((field) => !field.startsWith("date: "))).toEqual([
    "content-type: text/plain; charset=utf-8",
    "x-content-type-options: nosniff",
    "content-length: 5",
    "connection: keep-alive",
  ]);
  const date = fields.find((field) => field.startsWith("date: "))?.slice("date: ".length) ?? "";
  expect(new Date(Date.parse(date)).toUTCString()).toBe(date);
});

test("one connection is asked again and again, each time when the answer is there", async () => {
  await using server = await serve({ "/hello": hello });
  const socket = await server.dial();
  for (let count = 0; count < 200; count++) {
    socket.write(get("/hello"));
    expect(await answerOn(socket, "hello")).toMatch(/^HTTP\/1\.1 200 OK\r\n.*keep-alive\r\n\r\nhello$/s);
  }
});

test("a request may come byte by byte", async () => {
  await using server = await serve({ "/hello": hello });
  const socket = await server.dial();
  for (const byte of get("/hello")) await new Promise((resolve) => socket.write(byte, resolve));
  expect(await answerOn(socket, "hello")).toMatch(/^HTTP\/1\.1 200 OK/);
});

test("a request that came while we were held up is answered, though its time is over", async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate", "Date", "performance"] });
  try {
    await using server = await serve({ "/hello": hello });
    const socket = await server.dial();
    // Then it is known there, and has the time of a next request.
    socket.write(get("/hello"));
    await answerOn(socket, "hello");
    await delay(1); // Node calls its timers now, as it will after a stall: before it reads.
    socket.write(get("/hello"));
    jest.advanceTimersByTime(75_000);
    expect(await answerOn(socket, "hello")).toMatch(/^HTTP\/1\.1 200 OK/);
  } finally {
    jest.useRealTimers();
  }
});

test.each([
  ["wants it closed", get("/hello", "Connection: close")],
  ["speaks HTTP/1.0", "GET /hello HTTP/1.0\r\n\r\n"],
  ["sends a body", "POST /hello HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody"],
  ["announces a body that never comes", "POST /hello HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n"],
  ["sends more than it has answers for", get("/hello").repeat(10_000)],
])("a client that %s is answered once, and then hung up on", async (_what, sent) => {
  await using server = await serve({ "/hello": hello });
  const socket = await server.dial(sent);
  const said = await text(socket);
  expect(said.split("HTTP/1.1 ")).toHaveLength(2);
  expect(said).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n\r\nhello$/s);
});

test("a client that asks, says that this was all, and listens on has its answer", async () => {
  await using server = await serve({ "/hello": hello });
  const socket = await server.dial(get("/hello"));
  socket.end();
  expect(await text(socket)).toMatch(/hello$/);
});

test("what is sent while something is being answered ends the connection with the answer", async () => {
  const release: (() => void)[] = [];
  const slow = () =>
    new Promise<void>((resolve) => release.push(resolve)).then(() => textAnswer(200, "slow"));
  await using server = await serve({ "/slow": slow, "/hello": hello });
  const socket = await server.dial(get("/slow"));
  await eventually(() => expect(release).toHaveLength(1));
  socket.write(get("/slow").repeat(100));
  await askHttp(server.port, "/hello"); // By then the server has seen what came before.
  release[0]?.();
  expect((await text(socket)).match(/slow/g)).toHaveLength(1);
  expect(release).toHaveLength(1);
});

test("a route sees its client leave", async () => {
  const silent = createSilentRoute();
  await using server = await serve({ "/silent": silent.route });
  const socket = await server.dial(get("/silent"));
  await eventually(() => expect(silent.asked).toHaveLength(1));
  socket.destroy();
  await eventually(() => expect(silent.asked[0]?.aborted).toBe(true));
});

test.each([
  ["is not HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
  ["has too long a line", `GET /${"a".repeat(MAX_HEAD_BYTES)}`],
  ["has too long a head", `GET / HTTP/1.1\r\nhost: x\r\nx: ${"a".repeat(MAX_HEAD_BYTES)}\r\n\r\n`],
])("what %s is cut off without a word", async (_what, sent) => {
  await using server = await serve({ "/": hello });
  const socket = await server.dial(sent);
  expect(await text(socket).catch(() => "")).toBe("");
});

test("a head may have 16 KiB", async () => {
  await using server = await serve({ "/": hello });
  const rest = MAX_HEAD_BYTES - get("/", "x: ").length + "\r\n\r\n".length;
  expect(await answerOn(await server.dial(get("/", `x: ${"a".repeat(rest)}`)), "hello")).toMatch(/ 200 OK/);
});

test("what is malformed is answered with 400", async () => {
  await using server = await serve({ "/": hello });
  const socket = await server.dial("GET / HTTP/1.1\r\n\r\n");
  expect(await text(socket)).toMatch(
    /^HTTP\/1\.1 400 Bad Request\r\n.*connection: close\r\n\r\n400 bad request\n$/s,
  );
});

describe("a stream", () => {
  const streamed = (body: Readable) => () => ({ status: 200, headers: {}, body }) as const;

  test("ends with its connection", async () => {
    await using server = await serve({ "/": streamed(Readable.from(["a".repeat(100_000), "b"])) });
    const said = await text(await server.dial(get("/")));
    expect(said).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n\r\na{100000}b$/s);
    expect(said).not.toMatch(/content-length/);
  });

  test("is left off when its client leaves", async () => {
    const endless = new Readable({ read: () => void endless.push("more ".repeat(1_000)) });
    endless.on("error", () => {});
    await using server = await serve({ "/": streamed(endless) });
    const socket = await server.dial(get("/"));
    await once(socket, "data");
    const closed = new Promise((resolve) => endless.once("close", () => resolve("closed")));
    socket.destroy();
    expect(await closed).toBe("closed");
  });

  test("is not begun for HEAD", async () => {
    const endless = new PassThrough();
    await using server = await serve({ "/": streamed(endless) });
    const socket = await server.dial("HEAD / HTTP/1.1\r\nhost: x\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s);
    expect(endless.destroyed).toBe(true);
  });
});
