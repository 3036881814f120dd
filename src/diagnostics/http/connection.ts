import type { Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { answerHead, type HttpAnswer, textAnswer } from "./answer";
import { type HttpRequest, mayBeRequest, parseRequestHead } from "./request-head";

/** Answers a request; never rejects. The signal says that the client has left. */
export type Respond = (request: HttpRequest, signal: AbortSignal) => Promise<HttpAnswer>;

/** A client that is being served. */
export interface HttpConnection {
  readonly socket: Socket;
  /** A request has come, and its answer is not on its way to the client yet. */
  readonly isAnswering: boolean;
}

/** Probes and scrapes send a few hundred bytes. */
export const MAX_HEAD_BYTES = 16_384;
/** For the head of the first request, which clients send as soon as they are connected. */
const HEAD_WITHIN_MS = 10_000;
/** For the next one: scrapers that keep their connection come once a minute or more often. */
const NEXT_WITHIN_MS = 75_000;
/** For the client to read an answer. */
const TAKEN_WITHIN_MS = 10_000;
/** For the client to see our end of the connection before it is cut, so that it can still read the answer. */
const LINGER_MS = 1_000;

const NOTHING = Buffer.alloc(0);
const BAD_REQUEST = textAnswer(400, "400 bad request\n");
const END_OF_HEAD = "\r\n\r\n";

/**
 * Serves a client: HTTP/1 as far as paths need it that only read. One request is taken at a time and its answer written
 * before the next; a body is not read, nor what a client sends before it has its answer: that connection ends with the
 * answer. What is not HTTP, or has a head of more than 16 KiB, is cut off.
 *
 * Node's own server makes objects for each request that it has read, two thousand in one chunk, before anybody can
 * refuse them.
 */
export function serveHttpConnection(socket: Socket, respond: Respond): HttpConnection {
  let received: Buffer = NOTHING;
  /** While a request is being answered. */
  let answering: AbortController | undefined;
  /** What comes now is not read any more. */
  let isLast = false;
  let deadline: NodeJS.Timeout | undefined;

  function allow(ms: number): void {
    clearTimeout(deadline);
    if (!socket.destroyed) deadline = setTimeout(cutUnlessHeard, ms);
  }

  /** After we were held up, by a snapshot or for want of CPU, timers come before what clients sent meanwhile is read. */
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
    const isTooMuch = (end < 0 ? received.length : end) > MAX_HEAD_BYTES;
    if (isTooMuch || !mayBeRequest(received)) return void socket.destroy();
    if (end < 0) return;
    const request = parseRequestHead(received.toString("latin1", 0, end));
    const isMore = received.length > end + END_OF_HEAD.length;
    received = NOTHING;
    if (isMore) socket.pause();
    isLast = isMore || request === undefined || request.isLast;
    if (request === undefined) finish(BAD_REQUEST, { withBody: true });
    else void answer(request);
  }

  async function answer(request: HttpRequest): Promise<void> {
    clearTimeout(deadline);
    deadline = undefined;
    answering = new AbortController();
    const given = await respond(request, answering.signal);
    const withBody = request.method !== "HEAD";
    if (typeof given.body !== "string" && (socket.destroyed || !withBody)) given.body.destroy();
    if (socket.destroyed) return;
    if (isLast || typeof given.body !== "string") return finish(given, { withBody });
    allow(TAKEN_WITHIN_MS);
    await new Promise((resolve) => socket.write(textOf(given, { isLast, withBody }), resolve));
    answering = undefined;
    // It may have sent more, or left, before it had its answer.
    allow(isLast ? LINGER_MS : NEXT_WITHIN_MS);
    if (isLast) socket.end();
  }

  /** Answers, and ends the connection. */
  function finish(given: HttpAnswer, { withBody }: { readonly withBody: boolean }): void {
    isLast = true;
    const { body } = given;
    if (typeof body === "string" || !withBody) {
      allow(TAKEN_WITHIN_MS);
      socket.end(textOf(given, { isLast, withBody }), () => {
        answering = undefined;
        allow(LINGER_MS);
      });
      return;
    }
    socket.write(answerHead(given, { isLast }));
    socket.setTimeout(TAKEN_WITHIN_MS, () => socket.destroy());
    pipeline(body, socket).catch(() => {}); // Whoever asked for it has left.
  }

  socket.setNoDelay(true);
  socket.on("data", readOn);
  socket.on("end", () => {
    isLast = true;
    if (answering === undefined) socket.end();
    answering?.abort();
  });
  socket.on("error", () => {}); // `close` follows, and that is all there is to react to.
  socket.once("close", () => {
    clearTimeout(deadline);
    answering?.abort();
  });
  allow(HEAD_WITHIN_MS);
  return {
    socket,
    get isAnswering() {
      return answering !== undefined;
    },
  };
}

function textOf(
  given: HttpAnswer,
  { isLast, withBody }: { readonly isLast: boolean; readonly withBody: boolean },
): string {
  const head = answerHead(given, { isLast });
  return withBody && typeof given.body === "string" ? head + given.body : head;
}
