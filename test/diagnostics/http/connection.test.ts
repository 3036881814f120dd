import { once } from "node:events";
import { Socket } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { MAX_HEAD_BYTES, textAnswer } from "../../../src/diagnostics/http/connection";
import type { Route } from "../../../src/diagnostics/server";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import { askHttp } from "../../support/http";
import { get, hello, serve } from "./support";

const HELLO = get("/hello");
const OK = /^HTTP\/1\.1 200 OK/;
afterEach(() => void jest.useRealTimers());
const server = eachTest(() => serve({ "/hello": hello }));

/** What comes on a connection that stays open, up to `end`. */
async function answerOn(socket: Socket, end = "hello"): Promise<string> {
  let said = "";
  while (!said.endsWith(end)) said += (await once(socket, "data"))[0].toString("latin1");
  return said;
}

/** All that comes on a connection until the server ends it. */
const answersTo = async (sent: string) => text(await server.dial(sent));

test("an answer has its type, date, length and keep-alive", async () => {
  const answer = await answerOn(await server.dial(HELLO));
  const [, date = ""] = /^date: (.*?)\r$/m.exec(answer) ?? [];
  expect(new Date(Date.parse(date)).toUTCString()).toBe(date);
  expect(answer.replace(date, "").split("\r\n")).toEqual([
    ...["HTTP/1.1 200 OK", "content-type: text/plain; charset=utf-8", "x-content-type-options: nosniff"],
    ...["date: ", "content-length: 5", "connection: keep-alive", "", "hello"],
  ]);
});

test("a connection takes request after request, each after the answer before, and byte by byte", async () => {
  const socket = await server.dial();
  for (let count = 0; count < 200; count++) {
    for (const piece of count % 10 ? [HELLO] : HELLO)
      await new Promise((resolve) => socket.write(piece, resolve));
    expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*keep-alive\r\n\r\nhello$/s);
  }
});

const stopTimers = () =>
  jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate", "Date", "performance"] });

test("a request that arrived while the process was stopped is answered after its deadline", async () => {
  stopTimers();
  const socket = await server.dial(HELLO);
  // After its first answer the connection has the time of a next request.
  await answerOn(socket);
  await delay(1); // Node calls its timers now, as it will after a stall: before it reads.
  socket.write(HELLO);
  jest.advanceTimersByTime(75_000);
  expect(await answerOn(socket)).toMatch(OK);
  socket.write(get("/hello", "Connection: close"));
  expect(await text(socket)).toMatch(OK); // It was not cut after that.
});

test.each([
  ["sends nothing", "", 10_000],
  ["sends no next request", HELLO, 75_000],
  ["keeps its side open after the last answer", get("/hello", "Connection: close"), 1_000],
])("a client that %s is disconnected at its deadline, not earlier", async (_what, sent, limitMs) => {
  stopTimers();
  const socket = await server.dial(sent);
  const ended = once(socket, "end");
  if (sent !== "") await answerOn(socket);
  socket.resume();
  await delay(20); // The server has it, and has written.
  jest.advanceTimersByTime(limitMs - 1);
  await delay(20);
  if (limitMs > 1_000) expect(socket.readableEnded).toBe(false);
  jest.advanceTimersByTime(1);
  await ended;
  // Only a connection that is gone answers what is written to it with a reset.
  await eventually(() => {
    socket.write("x");
    expect(socket.destroyed).toBe(true);
  });
});

test("a client that has left leaves no timer", async () => {
  stopTimers();
  const socket = await server.dial(HELLO);
  await answerOn(socket);
  await eventually(() => expect(jest.getTimerCount()).toBe(1)); // The time of its next request.
  socket.destroy();
  await eventually(() => expect(jest.getTimerCount()).toBe(0));
});

test("a client that takes nothing of a stream for 10 s is disconnected, which ends the stream", async () => {
  const limits = jest.spyOn(Socket.prototype, "setTimeout");
  const body = new PassThrough();
  await using streaming = await serve({ "/stream": () => ({ status: 200, headers: {}, body }) });
  const socket = await streaming.dial(get("/stream"));
  await once(socket, "data");
  const [[limitMs, cut] = []] = limits.mock.calls;
  expect([limitMs, body.destroyed]).toEqual([10_000, false]);
  cut?.();
  await once(socket.resume(), "end");
  await eventually(() => expect(body.destroyed).toBe(true));
});

test("a client that takes nothing of a long answer for 10 s is disconnected", async () => {
  stopTimers();
  const long = "x".repeat(30_000_000); // More than the kernel keeps.
  await using other = await serve({ "/long": () => textAnswer(200, long) });
  const socket = await other.dial(get("/long", "Connection: close"));
  await once(socket, "readable");
  jest.advanceTimersByTime(10_000);
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  const said = await text(socket).catch(() => "");
  expect(said.length).toBeLessThan(long.length);
});

test.each([
  ["wants it closed", get("/hello", "Connection: close")],
  ["speaks HTTP/1.0", "GET /hello HTTP/1.0\r\n\r\n"],
  ["sends a body", "POST /hello HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody"],
  ["announces a body that never comes", "POST /hello HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n"],
  ["sends more than it has answers for", HELLO.repeat(10_000)],
])("a client that %s gets one answer, which ends the connection", async (_what, sent) => {
  const said = await answersTo(sent);
  expect(said.split("HTTP/1.1 ")).toHaveLength(2);
  expect(said).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n\r\nhello$/s);
});

test("a client that half-closes after its request gets the answer; bytes that are not HTTP get none", async () => {
  const socket = await server.dial(HELLO);
  socket.end();
  expect(await text(socket)).toMatch(/hello$/);
  for (const sent of ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "get / HTTP/1.1\r\n"])
    expect(await answersTo(sent).catch(() => "")).toBe("");
});

test("what answers a client hears that its side has ended, and may answer all the same", async () => {
  const answer: Route = (_request, signal) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(textAnswer(200, "cut short"))));
  await using other = await serve({ "/": answer });
  const socket = await other.dial(get("/"));
  socket.end();
  expect(await text(socket)).toMatch(/cut short$/);
});

const TOO_LARGE = "431 Request Header Fields Too Large";

test.each([
  ["too long a line", `GET /${"a".repeat(MAX_HEAD_BYTES)}`, TOO_LARGE],
  ["too long a head", get("/hello", `x: ${"a".repeat(MAX_HEAD_BYTES)}`), TOO_LARGE],
  ["a head of several chunks", get("/hello", `x: ${"a".repeat(20 * MAX_HEAD_BYTES)}`), TOO_LARGE],
  ["a malformed request", "GET / HTTP/1.1\r\n\r\n", "400 Bad Request"],
])("%s ends the connection with %3$s", async (_what, sent, status) => {
  const text = `${status.toLowerCase()}\n`;
  const answer = RegExp(`^HTTP/1\\.1 ${status}\r\n.*connection: close\r\n\r\n${text}$`, "s");
  expect(await answersTo(sent)).toMatch(answer);
});

test("a request's head of 16 KiB is accepted", async () => {
  const rest = MAX_HEAD_BYTES - get("/hello", "x: ").length + "\r\n\r\n".length;
  expect(await answerOn(await server.dial(get("/hello", `x: ${"a".repeat(rest)}`)))).toMatch(OK);
});

test("bytes that come during an answer end the connection after that answer", async () => {
  const release: (() => void)[] = [];
  const slow = () =>
    new Promise<void>((resolve) => release.push(resolve)).then(() => textAnswer(200, "slow"));
  await using other = await serve({ "/slow": slow, "/hello": hello });
  const socket = await other.dial(get("/slow"));
  await eventually(() => expect(release).toHaveLength(1));
  socket.write(get("/slow").repeat(100));
  await askHttp(other.port, "/hello"); // By then the server has seen what came before.
  release[0]?.();
  expect((await text(socket)).match(/slow/g)).toHaveLength(1);
  expect(release).toHaveLength(1);
});

describe("a stream", () => {
  const serveStream = (body: Readable) => serve({ "/": () => ({ status: 200, headers: {}, body }) });

  test("ends with its connection", async () => {
    await using other = await serveStream(Readable.from(["a".repeat(100_000), "b"]));
    const said = await text(await other.dial(get("/")));
    expect(said).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n\r\na{100000}b$/s);
    expect(said).not.toMatch(/content-length/);
  });

  test("ends when its client leaves", async () => {
    const endless = new Readable({ read: () => void endless.push("more ".repeat(1_000)) });
    endless.on("error", () => {});
    await using other = await serveStream(endless);
    const socket = await other.dial(get("/"));
    await once(socket, "data");
    const closed = new Promise((resolve) => endless.once("close", () => resolve("closed")));
    socket.destroy();
    expect(await closed).toBe("closed");
  });

  test("is not begun for a client that has left", async () => {
    const body = new PassThrough();
    let isAsked = false;
    const answer: Route = (_request, signal) =>
      new Promise((resolve) => {
        isAsked = true;
        signal.addEventListener("abort", () => resolve({ status: 200, headers: {}, body }));
      });
    await using other = await serve({ "/": answer });
    const socket = await other.dial(get("/"));
    await eventually(() => expect(isAsked).toBe(true));
    socket.resetAndDestroy(); // An end alone could be that of its requests.
    await eventually(() => expect(body.destroyed).toBe(true));
  });

  test("is not begun for HEAD", async () => {
    const endless = new PassThrough();
    await using other = await serveStream(endless);
    const said = await text(await other.dial("HEAD / HTTP/1.1\r\nhost: x\r\n\r\n"));
    expect(said).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s);
    expect(endless.destroyed).toBe(true);
  });
});
