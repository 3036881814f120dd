import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type HttpRequest, mayBeRequest, parseRequestHead } from "./request-head";

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** After a stream the connection ends. */
  readonly body: string | Readable;
}

export function textAnswer(status: number, body: string, headers: HttpAnswer["headers"] = {}): HttpAnswer {
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers }, body };
}

/** The head of an answer in HTTP/1.1, with the empty line behind it. After the last answer the connection ends. */
function answerHead({ status, headers, body }: HttpAnswer, isLast: boolean): string {
  const all = {
    ...headers,
    "x-content-type-options": "nosniff",
    date: new Date().toUTCString(),
    ...(typeof body === "string" && { "content-length": Buffer.byteLength(body) }),
    connection: isLast ? "close" : "keep-alive",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
}

/** Answers a request; never rejects. The signal is aborted if the client disconnects. */
export type Respond = (request: HttpRequest, signal: AbortSignal) => Promise<HttpAnswer>;

export type HttpConnection = ReturnType<typeof serveHttpConnection>;

export const MAX_HEAD_BYTES = 16_384;
/** For the head of the first request, which clients send as soon as they are connected. */
const HEAD_WITHIN_MS = 10_000;
/** For the next request: scrapers that keep their connection come once a minute or more often. */
const NEXT_WITHIN_MS = 75_000;
/** For the client to read an answer. */
const TAKEN_WITHIN_MS = 10_000;
/** For the client to close its end too. If it were cut at once, it could not read the answer. */
const LINGER_MS = 1_000;

const NOTHING = Buffer.alloc(0);
const BAD_REQUEST = textAnswer(400, "400 bad request\n");
const HEAD_TOO_LARGE = textAnswer(431, "431 request header fields too large\n");
const END_OF_HEAD = "\r\n\r\n";

/**
 * Serves a client: the part of HTTP/1 that read-only paths need. It reads one request at a time, and no body. If the
 * client sends more before it has its answer, the connection ends with that answer. Other protocols are cut off.
 * Node's own server creates objects for each pipelined request, 2,000 in one chunk, before a program can refuse them.
 * On 2026-11-29 `npm run bench:hostile -- --only HTTP`, with a limit of 64 MiB, measured node:http in its place (Node 20.20.2,
 * the same connection limit): 123 and 142 MB more at the peak, not registered, 29 and 20 failed probes.
 */
export function serveHttpConnection(socket: Socket, respond: Respond) {
  let received: Buffer = NOTHING;
  let answering: AbortController | undefined;
  /** The current answer is the last one: nothing is read any more. */
  let isLast = false;
  let deadline: NodeJS.Timeout | undefined;

  function allow(ms: number): void {
    clearTimeout(deadline);
    if (!socket.destroyed) deadline = setTimeout(cutUnlessHeard, ms);
  }

  /** After the process was held up, timers run before the sockets are read: a request may have arrived in time. */
  function cutUnlessHeard(): void {
    const due = deadline;
    setImmediate(() => {
      if (deadline === due) socket.destroy();
    });
  }

  function readOn(chunk: Buffer): void {
    if (answering !== undefined || isLast) {
      isLast = true;
      socket.pause();
      return;
    }
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const end = received.indexOf(END_OF_HEAD);
    if (!mayBeRequest(received)) return void socket.destroy();
    const isTooMuch = (end < 0 ? received.length : end) > MAX_HEAD_BYTES;
    if (end < 0 && !isTooMuch) return;
    const request = isTooMuch ? undefined : parseRequestHead(received.toString("latin1", 0, end));
    const isMore = isTooMuch || received.length > end + END_OF_HEAD.length;
    received = NOTHING;
    if (isMore) socket.pause();
    isLast = isMore || request === undefined || request.isLast;
    answering = new AbortController();
    answer(request ?? (isTooMuch ? HEAD_TOO_LARGE : BAD_REQUEST), answering.signal).catch(() =>
      socket.destroy(),
    );
  }

  async function answer(request: HttpRequest | HttpAnswer, signal: AbortSignal): Promise<void> {
    clearTimeout(deadline);
    deadline = undefined;
    const given = "status" in request ? request : await respond(request, signal);
    const { body } = given;
    const isHead = "method" in request && request.method === "HEAD";
    if (typeof body !== "string") {
      isLast = true;
      if (isHead || socket.destroyed) body.destroy();
    }
    if (socket.destroyed) return;
    const head = answerHead(given, isLast);
    if (isHead) await send(head);
    else if (typeof body === "string") await send(head + body);
    else {
      socket.write(head);
      socket.setTimeout(TAKEN_WITHIN_MS, () => socket.destroy());
      await pipeline(body, socket).catch(() => {}); // The client disconnected.
    }
  }

  async function send(text: string): Promise<void> {
    allow(TAKEN_WITHIN_MS);
    await new Promise((resolve) => socket.write(text, resolve));
    answering = undefined;
    // The client may have sent more, or closed its end, before it had its answer.
    allow(isLast ? LINGER_MS : NEXT_WITHIN_MS);
    if (isLast) socket.end();
  }

  socket.setNoDelay(true);
  socket.on("data", readOn);
  socket.on("end", () => {
    isLast = true;
    if (answering === undefined) socket.end();
    answering?.abort();
  });
  socket.on("error", () => {}); // `close` follows.
  socket.once("close", () => {
    clearTimeout(deadline);
    answering?.abort();
  });
  allow(HEAD_WITHIN_MS);
  return {
    socket,
    /** From the arrival of a request until its answer is handed to the kernel. */
    get isAnswering() {
      return answering !== undefined;
    },
  };
}
