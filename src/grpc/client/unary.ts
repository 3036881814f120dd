import type { Socket } from "node:net";
import { type ChannelOptions, Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { LONGEST_WAIT_MS, startImmediate, startTimer, stopTimer } from "../../base/pause";
import { boundText, boundTexts } from "../../logging/escape";
import { lookBeforeDialling } from "../../unix/unix-socket";
import { MAX_MESSAGE_BYTES } from "../guard/frames";
import { guardFromServer } from "../guard/guards";
import type { Unary } from "../protos";
import { statusCodeOf } from "../status";
import { firstFields } from "../wire-format";
import { afterDeadline, callFailureText } from "./answer";

export interface UnaryCallOptions {
  /** Deadline of this call in milliseconds from now; 0 or less has passed already. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Request metadata: lower-case keys. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Receives the response metadata, before the response: lower-case keys, the first value of each. */
  readonly onHeaders?: (headers: Readonly<Record<string, string>>) => void;
}

/** The most characters of one text in an answer. The CSI specification allows 128 bytes, and 256 for a node ID. */
const MAX_ANSWER_TEXT_LENGTH = 1_024;

/**
 * Calls a unary method, and bounds the fields and every text of the answer, or the failure's text. Rejects with an error that
 * `statusCodeOf` understands, CANCELLED for an aborted signal; with a plain Error if the client is closed already.
 */
export function callUnary<Request, Response>(
  client: Client,
  method: Unary<Request, Response>,
  request: Request,
  options: UnaryCallOptions,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { signal, timeoutMs } = options;
    const fail = (code: status, details: string) =>
      reject(Object.assign(new Error(`${code} ${status[code]}: ${details}`), { code, details }));
    const late = [status.DEADLINE_EXCEEDED, afterDeadline(timeoutMs)] as const;
    // Not left to `cancel`: even a call cancelled at once may reach the server.
    if (signal?.aborted) return fail(status.CANCELLED, "aborted before the call");
    const startedAt = performance.now();
    const giveUp = (...why: Parameters<typeof fail>) => {
      stopTimer(limit);
      call.cancel();
      fail(...why); // grpc-js needs timers for that, which a test may have replaced.
    };
    const cancel = () => giveUp(status.CANCELLED, "aborted during the call");
    const call = client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      (message) => method.responseDeserialize(firstFields(message)),
      request,
      Metadata.fromHttp2Headers({ ...options.metadata }),
      { deadline: Date.now() + timeoutMs },
      (error, response) => {
        signal?.removeEventListener("abort", cancel);
        stopTimer(limit);
        // A server knows the deadline, too: where its clock is first (grpc-go, tonic) it cancels the call in words of its own.
        if (error?.code === status.CANCELLED && performance.now() - startedAt >= timeoutMs) fail(...late);
        else if (error) reject(understood(error, timeoutMs));
        else resolve(boundTexts(response as Response, MAX_ANSWER_TEXT_LENGTH));
      },
    );
    // Of the same moment grpc-js' own timer comes first and says more, unless a test has replaced it.
    const limit = startTimer(() => giveUp(...late), Math.min(timeoutMs, LONGEST_WAIT_MS));
    signal?.addEventListener("abort", cancel, { once: true });
    call.on("metadata", (headers: Metadata) => {
      const values = Object.entries(headers.getMap()).map(([key, value]) => [key, String(value)]);
      options.onHeaders?.(Object.fromEntries(values));
    });
  });
}

/** Statuses outside of 1 to 16 count as UNKNOWN. */
function understood(error: ServiceError, timeoutMs: number): ServiceError {
  if (statusCodeOf(error) !== undefined)
    return Object.assign(error, { message: boundText(callFailureText(error.message, timeoutMs)) });
  const message = `2 UNKNOWN: the answer cannot be understood: status ${error.code}, ${error.details || "no text"}`;
  return Object.assign(error, { code: status.UNKNOWN, message: boundText(message) });
}

/** What grpc-js (uri-parser.js) reads in no target: it would throw. */
const UNREAD = /[\n\r\u2028\u2029]/;

/** In the place of a call on such a socket. */
function failUndialled(...given: readonly unknown[]) {
  const details = "gRPC cannot dial a socket with a line break in its name";
  const error = Object.assign(new Error(`14 UNAVAILABLE: ${details}`), { code: status.UNAVAILABLE, details });
  startImmediate(() => (given.at(-1) as (error: Error) => void)(error));
  return { cancel: () => {}, on: () => {} } as never;
}

/**
 * A client of one unix socket that connects when first called, without retries. Its requests carry the authority `localhost`
 * as grpc-go's do: servers in Rust, Node and .NET refuse a path there (grpc/grpc-node#258). It looks at the path before it
 * dials, because a file system that hangs would stop the process. `close` ends its connections, also one that is just being
 * made, whatever the server does; what the client has sent by then still arrives. `onConnected` is called with each
 * connection that the server accepts, before HTTP/2.
 *
 * grpc-js (1.14) dials at once; and when a client is closed it forgets the connection to a server that never speaks or never
 * hangs up, and the file descriptor stays. It has no option for the socket, so this replaces the undocumented function that
 * makes its connectors; package.json pins its version.
 */
export function createUnixClient(
  socketPath: string,
  options: ChannelOptions = {},
  onConnected = () => {},
): Client {
  const open = new Set<Socket>();
  let isClosed = false;
  const insecure = credentials.createInsecure();
  // Each client has a connection of its own, also in grpc-js' pool of all; scripts/left-out.mjs counts on it.
  insecure._equals = (other) => other === insecure;
  const createConnector = insecure._createSecureConnector.bind(insecure);
  insecure._createSecureConnector = (...args) => {
    const connector = createConnector(...args);
    const connect = (socket: Socket) => {
      if (isClosed) socket.destroy();
      onConnected();
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      // grpc-js gives it to http2, which takes any stream.
      return connector.connect(guardFromServer(socket) as Socket);
    };
    // grpc-js dials when this resolves.
    const waitForReady = async () => {
      await lookBeforeDialling(socketPath);
      if (isClosed) throw new Error("closed"); // It would dial once more when its backoff ends.
      await connector.waitForReady();
    };
    return { ...connector, connect, waitForReady };
  };
  const isDialled = !UNREAD.test(socketPath);
  const client = new Client(isDialled ? `unix:${socketPath}` : "unix:/", insecure, {
    "grpc.default_authority": "localhost",
    "grpc.client_idle_timeout_ms": 2 ** 31 - 1,
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.enable_channelz": 0,
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    ...options,
  });
  if (!isDialled) client.makeUnaryRequest = failUndialled;
  const close = client.close.bind(client);
  client.close = () => {
    close();
    isClosed = true;
    startImmediate(() => {
      for (const socket of open) socket.destroy();
    });
  };
  return client;
}
