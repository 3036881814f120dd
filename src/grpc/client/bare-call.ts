import { once } from "node:events";
import { type ClientHttp2Stream, connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { attempt, messageOf } from "../../base/errors";
import { startTimer, stopTimer } from "../../base/pause";
import { connectTo } from "../../unix/unix-socket";
import { MAX_MESSAGE_BYTES, MESSAGE_PREFIX_BYTES } from "../guard/frames";
import { guardFromServer } from "../guard/guards";
import { deadlineText } from "./answer";

interface BareCallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Request metadata: lower-case keys. */
  readonly fields?: Readonly<Record<string, string>>;
}

export type BareConnection = Awaited<ReturnType<typeof connectBare>>;

/**
 * Connects to a unix socket with bare HTTP/2: grpc-js takes longer to load, and twice as long for a call on a new connection.
 * `call` sends an empty message to a unary method. It rejects when the server does not listen, does not answer within
 * `timeoutMs`, closes the connection, or answers more than `MAX_MESSAGE_BYTES`; with a text as grpc-js has it.
 */
export async function connectBare(socketPath: string) {
  let lost = "the connection ended before the answer";
  // The socket's own error: the session may tell of it after its streams have closed.
  const socket = await connectTo(socketPath).catch((error: unknown) => {
    throw new Error(`14 UNAVAILABLE: ${messageOf(error)}`, { cause: error });
  });
  socket.once("error", ({ message }) => {
    lost = message;
  });
  const session = connectHttp2("http://localhost", { createConnection: () => guardFromServer(socket) });
  session.on("error", () => {}); // Also between two calls.
  return {
    close: (): void => session.destroy(),
    /** Whether the server's HTTP/2 answers within `timeoutMs`. Never rejects. */
    ping: (timeoutMs: number): Promise<boolean> =>
      new Promise((resolve) => {
        const end = (isAnswered: boolean) => {
          stopTimer(timer);
          resolve(isAnswered);
        };
        const timer = startTimer(end, timeoutMs, false);
        if (!attempt(() => session.ping((error) => end(error === null)))) end(false);
      }),
    call: async (path: string, { timeoutMs, signal, fields = {} }: BareCallOptions) => {
      const over = new AbortController();
      let why: string | undefined;
      const giveUp = (reason: string) => {
        why = reason;
        over.abort();
      };
      const fail = (error: Error) => giveUp(`14 UNAVAILABLE: ${error.message}`);
      session.on("error", fail);
      const timer = startTimer(() => giveUp(deadlineText(timeoutMs)), timeoutMs);
      const cancel = () => giveUp("1 CANCELLED: aborted during the call");
      signal?.addEventListener("abort", cancel);
      if (signal?.aborted) cancel();
      try {
        const grpc = { ":method": "POST", "content-type": "application/grpc", te: "trailers" };
        const request = session.request({ ...grpc, ":path": path, ...fields });
        return await readAnswer(request, over);
      } catch (error) {
        throw over.signal.aborted ? new Error(why ?? `14 UNAVAILABLE: ${lost}`, { cause: error }) : error;
      } finally {
        signal?.removeEventListener("abort", cancel);
        session.off("error", fail);
        stopTimer(timer);
      }
    },
  };
}

/** One call on a connection of its own. */
export async function bareCall(socketPath: string, path: string, options: BareCallOptions) {
  const connection = await connectBare(socketPath);
  try {
    return await connection.call(path, options);
  } finally {
    connection.close();
  }
}

async function readAnswer(request: ClientHttp2Stream, over: AbortController) {
  let headers: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  const chunks: Buffer[] = [];
  let room = MESSAGE_PREFIX_BYTES + MAX_MESSAGE_BYTES;
  const endUnanswered = () => over.abort();
  over.signal.addEventListener("abort", () => request.destroy());
  // Read from the start: with Node 26 a stream that closes first loses its data.
  request
    .on("error", () => {}) // The session's error says more.
    .once("close", endUnanswered) // Also of a stream that the server reset before it answered.
    .once("end", () => request.off("close", endUnanswered))
    .once("response", (received) => {
      headers = received;
    })
    .once("trailers", (received) => {
      trailers = received;
    })
    .on("data", (chunk: Buffer) => {
      room -= chunk.length;
      if (room >= 0) return chunks.push(chunk);
      request.off("close", endUnanswered);
      return request.destroy(new Error(`an answer of more than ${MAX_MESSAGE_BYTES} bytes`));
    });
  request.end(Buffer.alloc(MESSAGE_PREFIX_BYTES));
  await once(request, "end", { signal: over.signal });
  if (headers[":status"] === undefined) over.abort(); // The stream ends, too, when its connection does.
  over.signal.throwIfAborted();
  const { "grpc-status": grpcStatus, "grpc-message": text = "" } = { ...headers, ...trailers };
  if (grpcStatus === undefined) throw new Error("an answer without a status");
  return {
    headers,
    grpcStatus: String(grpcStatus),
    details: attempt(() => decodeURIComponent(String(text))) ?? String(text),
    message: Buffer.concat(chunks).subarray(MESSAGE_PREFIX_BYTES),
  };
}
