import type { Writable } from "node:stream";
import {
  Metadata,
  type Server,
  type ServerUnaryCall,
  type ServiceError,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { attempt, invalidOption, messageOf } from "../base/errors";
import { isPromise } from "../base/guarded-call";
import { monotonicMs } from "../base/pause";
import type { Logger } from "../logging/logger";
import { show } from "../options/option-kinds";
import { statusCodeOf } from "./status";

/** What a handler knows of its call besides the request. */
export interface CallContext {
  /** What the client sent: several values a key, those of `-bin` keys as buffers. */
  readonly metadata: Metadata;
  /** Added to the status that ends the call; an error's own `metadata` replaces it. */
  readonly trailingMetadata: Metadata;
  /** When the client gives up, in milliseconds since 1970; Infinity without a deadline. */
  readonly deadline: number;
  /** The client's address in grpc-js' words, which are `unknown` on a unix socket. */
  readonly peer: string;
  /** Aborted when the client cancels the call, its deadline passes, or its connection ends, while the call runs. */
  readonly signal: AbortSignal;
  /** Sends initial metadata, at once and once; without it, empty metadata precedes the answer. */
  sendMetadata(metadata: Metadata): void;
}

/** A unary handler of grpc-js' server: what `unaryHandler` returns. */
export interface UnaryHandler<Request, Response> {
  /** Called by grpc-js with the call and where to answer it. */
  // biome-ignore lint/style/useShorthandFunctionType: a caller's declarations would spell it out with grpc-js' names.
  (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>): void;
}

/** The most characters of a status text: it is sent as a header, and peers silently drop headers over their limit. */
const MAX_STATUS_TEXT_LENGTH = 1_000;

/** In a status, the error that it was made of. */
const THROWN = Symbol("thrown");

/** What a handler answers that failed: the gRPC status that the error has, else `otherwise` with its text. */
export function errorStatus(error: unknown, otherwise = status.INTERNAL) {
  const code = statusCodeOf(error);
  const { details, metadata, message } = Object(error) as Partial<ServiceError>;
  const isBare = Object(error) === error && message === undefined;
  const hasDetails = typeof details === "string" && (isBare || code !== undefined);
  const text = hasDetails ? details : messageOf(isBare ? status[code ?? otherwise] : error);
  const headers = metadataOf(metadata);
  return {
    code: code ?? otherwise,
    // Through a buffer, because a header cannot contain half of a surrogate pair.
    details: Buffer.from(text.slice(0, MAX_STATUS_TEXT_LENGTH)).toString(),
    ...(headers && { metadata: headers }),
    [THROWN]: thrownIn(error),
  };
}

const thrownIn = (error: unknown): unknown =>
  Object(error) === error && THROWN in Object(error) ? Object(error)[THROWN] : error;

/** Metadata, also of a plain object with a value a key; undefined for anything else, for which grpc-js would throw too late. */
function metadataOf(given: unknown): Metadata | undefined {
  if (typeof Object(given).toHttp2Headers === "function") return given as Metadata;
  return Object(given) === given ? attempt(() => Metadata.fromHttp2Headers(given as never)) : undefined;
}

/**
 * Makes a handler for grpc-js' server of a function that returns the answer, or its promise; undefined is the empty answer. An
 * error that it throws becomes the status of the call: its `code` if that is gRPC's (a number), `details` and `metadata`, else
 * INTERNAL with its text. Throws INVALID_OPTION if `handle` is not a function.
 */
export function unaryHandler<Request, Response>(
  handle: (request: Request, context: CallContext) => Response | Promise<Response>,
): UnaryHandler<Request, Response> {
  if (typeof handle !== "function")
    throw invalidOption(`unaryHandler is given ${show(handle)}; it takes a function`);
  return (call, callback) => {
    const gone = new AbortController();
    const abort = () => gone.abort();
    // grpc-js tells of the end of each call like that, an answered one too.
    call.once("cancelled", abort);
    const trailingMetadata = new Metadata();
    const run = async () =>
      handle(call.request, {
        metadata: call.metadata,
        trailingMetadata,
        deadline: Number(call.getDeadline()),
        peer: call.getPeer(),
        signal: gone.signal,
        sendMetadata: (metadata) => call.sendMetadata(metadata),
      });
    const fail = (error: unknown) => callback({ metadata: trailingMetadata, ...errorStatus(error) });
    run()
      .finally(() => call.off("cancelled", abort))
      .then((response) => {
        const fault = faultOf(response);
        if (fault) fail(fault);
        else callback(null, response ?? ({} as Response), trailingMetadata);
      }, fail)
      .catch(() => {}); // The client is gone.
  };
}

/** What is wrong with an answer, for which protobuf would send an empty message; undefined if it is a message. */
function faultOf(answer: unknown): Error | undefined {
  if (typeof (answer ?? {}) === "object" && !Array.isArray(answer)) return undefined;
  return new TypeError(
    `the handler answered ${show(answer)}; it takes an object, or nothing for an empty answer`,
  );
}

type Callback = sendUnaryData<unknown>;
type Call = ServerUnaryCall<unknown, unknown> & Writable;
type Handler = (call: Call, callback: Callback) => unknown;

interface Guarding {
  readonly log: Logger;
  /** Whether running calls were cut off by the server's end. */
  readonly isCut: () => boolean;
}

interface GuardedMethod extends Guarding {
  readonly method: string;
}

/**
 * Makes each call of a server end with an answer or a line in the log, whatever its handler does. grpc-js ignores what a handler
 * returns, and drops the error of a promise. A unary handler answers by its callback or by the promise that it returns; one that
 * declares fewer than two parameters has no callback, and answers by what it returns. The first answer counts. Logged as errors,
 * with the method: what a handler throws without a gRPC code, at any time; an answer that cannot be encoded; a second answer;
 * a call that was cut off. A warning: a call whose client gave up first.
 */
export function guardHandlers(server: Server, guarding: Guarding): void {
  const log = guarding.log.named("handlers");
  const register = server.register.bind(server);
  server.register = (method, handler, serialize, deserialize, type) => {
    const encode: typeof serialize = (value) => {
      try {
        return serialize(value);
      } catch (error) {
        log.error(error, "Cannot encode a handler's answer", { method });
        throw error;
      }
    };
    const guard = type === "unary" || type === "clientStream" ? answerOnce : endOnError;
    const guarded = guard(handler as unknown as Handler, { ...guarding, log, method });
    return register(method, guarded as never, encode, deserialize, type);
  };
}

/** Of a call with one answer. */
function answerOnce(handle: Handler, guarded: GuardedMethod): Handler {
  const { log, method } = guarded;
  const hasCallback = handle.length > 1;
  return (call, callback) => {
    let isAnswered = false;
    const report = watchCall(call, guarded, () => isAnswered);
    const answer: Callback = (given, value, trailer, flags) => {
      if (isAnswered)
        return log.error(undefined, "A handler answered twice, the first answer counts", { method });
      isAnswered = true;
      const error = given || faultOf(value);
      if (error) report(thrownIn(error));
      const trailers = metadataOf(trailer);
      if (error) callback(errorStatus(error, given ? status.UNKNOWN : status.INTERNAL), null, trailers);
      else callback(null, value ?? {}, trailers, flags);
    };
    new Promise((resolve) => {
      const returned = hasCallback ? handle(call, answer) : (handle as (call: Call) => unknown)(call);
      resolve(hasCallback && !isPromise(returned) ? undefined : returned);
    })
      .then((value) => !isAnswered && !(hasCallback && value === undefined) && answer(null, value))
      .catch((error) => (isAnswered ? report(error) : answer(errorStatus(error))))
      .catch(() => {}); // The client is gone.
  };
}

/** Of a call with a stream of answers, which its handler ends. */
function endOnError(handle: Handler, guarded: GuardedMethod): (call: Call) => void {
  return (call) => {
    const report = watchCall(call, guarded, () => call.writableEnded);
    call.on("error", (error) => report(thrownIn(error)));
    new Promise((resolve) => resolve((handle as (call: Call) => unknown)(call))).catch((error) =>
      call.emit("error", errorStatus(error)),
    );
  };
}

/** Logs the end of a call without an answer. Returns what logs the handler's errors. */
function watchCall(call: Call, { log, method, isCut }: GuardedMethod, isAnswered: () => boolean) {
  const startedAt = monotonicMs();
  call.once("cancelled", () => {
    if (isAnswered()) return;
    const fields = { method, afterMs: Math.round(monotonicMs() - startedAt) };
    if (isCut()) return log.error(undefined, "Cut off a call that its handler had not answered", fields);
    const why = Number(call.getDeadline()) <= Date.now() ? "its deadline passed" : "its client gave up";
    log.warn("A call ended before its handler answered", { ...fields, why });
  });
  return (error: unknown): void => {
    // A handler that follows its signal ends so when the client is gone.
    const isEnd = call.cancelled && Object(error).name === "AbortError";
    if (statusCodeOf(error) === undefined && !isEnd) log.error(error, "A handler failed", { method });
  };
}
