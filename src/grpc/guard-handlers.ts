import type { Writable } from "node:stream";
import { types } from "node:util";
import { type Server, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { monotonicMs } from "../base/pause";
import { type LogFields, type Logger, UNHEARD } from "../logging/logger";
import { createPacedWarning } from "../logging/repeats";
import { isObject, show } from "../options/option-kinds";
import { type TakesCallback, takesCallback } from "./callback-parameter";
import type { MessageType } from "./descriptors";
import {
  errorStatus,
  faultOf,
  isMessage,
  MAX_STATUS_TEXT_LENGTH,
  metadataOf,
  sendOnce,
  statusTextOf,
  thrownIn,
} from "./handlers";
import { checkMessage, isAbsent } from "./message-check";
import { statusCodeOf } from "./status";

type Callback = sendUnaryData<unknown>;
type Call = ServerUnaryCall<unknown, unknown> & Writable & { readonly readableEnded?: boolean };
type Handler = (call: Call, callback: Callback) => unknown;

interface Guarding {
  readonly log: Logger;
  /** Whether running calls were cut off by the server's end. */
  readonly isCut: () => boolean;
  /** What a method answers, by its path; undefined if it is unknown. */
  readonly answerTypeOf: (method: string) => MessageType | undefined;
  /** The handler of a method as it was added; undefined if it is unknown. */
  readonly handlerOf: (method: string) => unknown;
}

/** A call that is not over. */
interface RunningCall {
  readonly isAnswered: () => boolean;
  /** Logs its end, once, if it was not answered. */
  readonly end: () => void;
  /** What its handler did not do, although it has returned. */
  hint?: string;
}

interface GuardedMethod extends Guarding {
  readonly method: string;
  readonly callback: TakesCallback;
  /** Whether it has a stream of answers, which a client may leave: a watch. */
  readonly isStream: boolean;
  readonly running: Map<Call, RunningCall>;
  /** The answers that could not be encoded. */
  readonly unencoded: WeakSet<object>;
  readonly warnOfMisreading: (fields: LogFields) => void;
}

/**
 * Makes each call of a server end with an answer or a line in the log, whatever its handler does. grpc-js ignores what a handler
 * returns, and drops the error of a promise. A unary handler with a callback answers by it; of one that declares fewer than two
 * parameters, what it returns is its answer, but not undefined or what may be no answer if it may have a callback. The first answer
 * counts. Logged as errors, with the method: what a handler throws without a gRPC code, at any time; an answer that cannot be
 * encoded, or not as it is; a second answer; an answer that a handler with a callback returns; a call that was cut off. Warnings: a call
 * whose client gave up first, an answer with fields that are not sent, a handler that takes its call for the request.
 */
export function guardHandlers(server: Server, guarding: Guarding) {
  const running: GuardedMethod["running"] = new Map();
  const log = guarding.log;
  const register = server.register.bind(server);
  server.register = (method, handler, serialize, deserialize, type) => {
    const unencoded = new WeakSet<object>();
    /** By each field: one does not hide another. */
    const warnsOfUnsent = new Map<string, (fields: LogFields) => void>();
    const warnOfUnsent = (field: string) => {
      const known = warnsOfUnsent.get(field);
      if (!known && warnsOfUnsent.size === MAX_WARNED_FIELDS) return;
      const warn = known ?? createPacedWarning(log, UNSENT);
      warnsOfUnsent.set(field, warn);
      warn({ method, unsent: [field], ...UNHEARD });
    };
    const warnOfMisreading = createPacedWarning(log, MISREAD);
    const encode: typeof serialize = (value) => {
      try {
        const answerType = guarding.answerTypeOf(method);
        const unsent = answerType === undefined ? [] : checkMessage(Object(value), answerType);
        for (const field of unsent) warnOfUnsent(field);
        return serialize(value);
      } catch (error) {
        unencoded.add(Object(value));
        log.error(error, "Cannot encode a handler's answer", { method, ...UNHEARD });
        throw error;
      }
    };
    const isStream = type !== "unary" && type !== "clientStream";
    const guard = isStream ? endOnError : answerOnce;
    const guarded = guard(handler as unknown as Handler, {
      ...guarding,
      log,
      method,
      isStream,
      callback: takesCallback((guarding.handlerOf(method) ?? handler) as Handler),
      running,
      unencoded,
      warnOfMisreading,
    });
    return register(method, guarded as never, encode, deserialize, type);
  };
  return {
    /** The methods of the calls that are not answered. */
    unanswered: (): readonly string[] =>
      [...running].flatMap(([call, { isAnswered }]) => (isAnswered() ? [] : [call.getPath()])),
    /** Logs the calls that were cut off, of which grpc-js tells later. */
    end: (): void => {
      for (const call of running.values()) call.end();
    },
  };
}

const UNSENT = "A handler's answer has fields that its message lacks, they are not sent";

/** The keys of a map, or a list's indices, would make endless paths. */
const MAX_WARNED_FIELDS = 64;

/** Of a call with one answer. */
function answerOnce(handle: Handler, guarded: GuardedMethod): Handler {
  const { log, method, callback: takes } = guarded;
  return (call, callback) => {
    let isAnswered = false;
    let hint: string | undefined;
    const fail = (error: unknown) => (isAnswered ? report(error) : answer(errorStatus(error)));
    const report = watchCall(call, guarded, () => isAnswered, fail);
    const answer: Callback = (given, value, trailer, flags) => {
      if (isAnswered) {
        const fields = { method, ...(hint && { hint }), ...UNHEARD };
        return log.error(undefined, "A handler answered twice, the first answer counts", fields);
      }
      isAnswered = true;
      const error = given || faultOf(value, guarded.answerTypeOf(method));
      if (error) report(thrownIn(error));
      const trailers = metadataOf(trailer);
      if (!trailers && !isAbsent(trailer)) warnOfMetadata(trailer, guarded);
      if (error) callback(errorStatus(error, given ? status.UNKNOWN : status.INTERNAL), null, trailers);
      else callback(null, value ?? {}, trailers, flags);
    };
    // Node destroys what a `for await` has read to the end, or has left: the answer follows.
    const destroy = call.destroy?.bind(call);
    if (destroy)
      call.destroy = (error) => {
        if (call.cancelled) return destroy(error);
        if (!isLeft(error)) fail(error);
        return call;
      };
    const run = async () => {
      const returned = handle(call, answer);
      const value = await returned;
      if (isAnswered) return;
      if (takes === "no" || (takes === "unknown" && isAnswer(value))) {
        hint = RETURN_ANSWERS;
        answer(null, value);
      } else if (takes === "yes" && hasAnswer(value)) {
        hint = "it returned an answer before, which failed its call";
        fail(new TypeError(FORGOTTEN));
      } else {
        const running = guarded.running.get(call);
        if (running) running.hint = NEVER_CALLED_BACK;
      }
    };
    run()
      .catch(fail)
      .catch(() => {}); // The client is gone.
  };
}

/** Why a callback came too late. */
const RETURN_ANSWERS =
  "it declares fewer than two parameters, so what it returned was its answer; declare (call, callback)";

const NEVER_CALLED_BACK =
  "it has returned, and its callback was not called; if nothing was to call it later, write unaryHandler((request, context) => answer), or (call, callback) => callback(null, answer)";

const FORGOTTEN =
  "the handler returned an answer, but declares a callback; write unaryHandler((request, context) => answer), or (call, callback) => callback(null, answer)";

/** Of a call with a stream of answers, which its handler ends. */
function endOnError(handle: Handler, guarded: GuardedMethod): (call: Call) => void {
  return (call) => {
    const fail = (error: unknown) => call.emit("error", errorStatus(error));
    // grpc-js ends a call with an error when it cannot encode an answer, and sends nothing more.
    let sending: unknown;
    const send = call._write.bind(call);
    call._write = (message, ...more) => {
      sending = message;
      send(message, ...more);
    };
    watchCall(call, guarded, () => call.writableEnded || guarded.unencoded.has(Object(sending)), fail);
    guardStream(call, guarded.answerTypeOf(guarded.method), fail);
    new Promise((resolve) => resolve((handle as (call: Call) => unknown)(call)))
      .then((returned) => {
        const hasAnswers = Array.isArray(returned) && hasAnswer(returned);
        const isForgotten = hasAnswers || types.isGeneratorObject(returned);
        if (!isForgotten || sending !== undefined || call.writableEnded || call.cancelled) return;
        fail(new TypeError(`the handler returned ${show(returned)}; ${STREAM_TAKES}`));
      })
      .catch(fail);
  };
}

/** Not what `call.write`, a callback or a timer returns: one that is faked is a plain object with functions. */
const isAnswer = (value: unknown) =>
  isMessage(value) &&
  !ArrayBuffer.isView(value) &&
  !Object.values(Object(value)).some((field) => typeof field === "function");

const hasAnswer = (returned: unknown) => [returned].flat().some(isAnswer);

const STREAM_TAKES = "a stream's answers are written with call.write(), then call.end()";

const DESTROYED =
  "the handler destroyed its call, as leaving a `for await` early does, before it had ended it";

/** Makes errors of answers that grpc-js would drop or throw for too late, and of a destroyed call, which it would never end. */
function guardStream(call: Call, answerType: MessageType | undefined, fail: (error: unknown) => void): void {
  const write = call.write.bind(call) as (...given: unknown[]) => boolean;
  const end = call.end.bind(call) as (trailers: unknown) => Call;
  const destroy = call.destroy.bind(call);
  const guards = {
    write: (message: unknown, ...more: unknown[]): boolean => {
      const fault = faultOf(message, answerType);
      if (!isAbsent(message) && fault === undefined) return write(message, ...more);
      const text = `the handler wrote ${show(message)}; it takes an object, {} for an empty answer`;
      fail(fault ?? new TypeError(text));
      return false;
    },
    end: (trailers: unknown): Call => {
      const isMetadata = typeof Object(trailers).toHttp2Headers === "function";
      if (isMetadata || isAbsent(trailers)) return end(trailers);
      const text = `the handler ended its call with ${show(trailers)}; end() takes Metadata, and write() an answer`;
      fail(new TypeError(text));
      return call;
    },
    destroy: (error?: Error): Call => {
      if (call.cancelled || call.writableFinished) return destroy(error);
      if (!isLeft(error)) call.emit("error", error);
      else if (!call.readableEnded) fail(new Error(DESTROYED));
      return call;
    },
  };
  Object.assign(call, guards);
}

/** Whether Node destroys a call because a `for await` has read it to the end, or has left it. */
const isLeft = (error: Error | undefined) =>
  isAbsent(error) || (error?.name === "AbortError" && !("cause" in error));

const CUT_TEXT = `A status text is longer than ${MAX_STATUS_TEXT_LENGTH} characters, the rest is not sent`;
const MAX_LOGGED_TEXT_LENGTH = 65_536;

/** Logs the end of a call without an answer; fails it when a listener throws. Returns what logs the handler's errors. */
function watchCall(
  call: Call,
  guarded: GuardedMethod,
  isAnswered: () => boolean,
  fail: (error: unknown) => void,
) {
  const { log, method, isStream, isCut, running } = guarded;
  const startedAt = monotonicMs();
  tellMisreading(call, guarded);
  call.sendMetadata = sendOnce(call.sendMetadata.bind(call), () =>
    log.warn("A handler sent initial metadata twice, the second is ignored", { method, ...UNHEARD }),
  );
  const emit = call.emit.bind(call);
  call.emit = (name: string, ...given: unknown[]): boolean => {
    if (name !== "error") {
      try {
        return emit(name, ...given);
      } catch (error) {
        fail(error);
        return true;
      }
    }
    const [error] = given;
    report(thrownIn(error));
    return emit(name, thrownIn(error) === error ? errorStatus(error, status.UNKNOWN) : error);
  };
  const end = () => {
    if (!running.delete(call) || isAnswered()) return;
    const { hint } = record;
    const fields = { method, afterMs: Math.round(monotonicMs() - startedAt), ...(hint && { hint }) };
    const isLate = Number(call.getDeadline()) <= Date.now();
    if (isStream && call.cancelled && !isLate && !isCut()) return;
    if (isCut()) return log.error(undefined, "Cut off a call that its handler had not answered", fields);
    const why = isLate ? "its deadline passed" : "its client gave up";
    log.warn("A call ended before its handler answered", { ...fields, why });
  };
  const record: RunningCall = { isAnswered, end };
  running.set(call, record);
  call.once("cancelled", end);
  function report(error: unknown): void {
    // A handler that follows its signal ends so when the client is gone.
    const isEnd = call.cancelled && Object(error).name === "AbortError";
    const text = statusTextOf(error);
    if (statusCodeOf(error) === undefined) {
      if (!isEnd) log.error(error, "A handler failed", { method, ...UNHEARD });
    } else if (text.length > MAX_STATUS_TEXT_LENGTH)
      log.warn(CUT_TEXT, { method, text: text.slice(0, MAX_LOGGED_TEXT_LENGTH), length: text.length });
    const { metadata } = Object(error);
    if (!isAbsent(metadata) && !metadataOf(metadata)) warnOfMetadata(metadata, guarded);
  }
  return report;
}

/** Warns of a handler that takes its call for the request, where a field is undefined. */
function tellMisreading(call: Call, { method, warnOfMisreading }: GuardedMethod): void {
  const { request } = call;
  if (!isObject(request)) return; // The requests of a stream come one by one.
  for (const field of Object.keys(request).filter((name) => !(name in call)))
    Object.defineProperty(call, field, {
      configurable: true,
      get: () => warnOfMisreading({ method, field, hint: REQUEST_IS, ...UNHEARD }),
      set: (value: unknown) =>
        Object.defineProperty(call, field, { value, writable: true, enumerable: true, configurable: true }),
    });
}

const MISREAD = "A handler reads a field of the request from its call, where it is undefined";
const REQUEST_IS = "the request is call.request; unaryHandler((request) => answer) passes it";

function warnOfMetadata(given: unknown, { log, method }: GuardedMethod): void {
  const hint = `it is ${show(given)}; it takes Metadata, or an object with a text of printable ASCII a key`;
  log.error(undefined, "A handler's metadata is invalid, nothing of it is sent", {
    method,
    hint,
    ...UNHEARD,
  });
}
