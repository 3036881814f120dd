import type { Writable } from "node:stream";
import { types } from "node:util";
import { type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { isPromise } from "../base/guarded-call";
import { nearWord } from "../base/near-word";
import { type LogFields, type Logger, UNHEARD } from "../logging/logger";
import { isObject, show } from "../options/option-kinds";
import type { CallWatch } from "./call-watch";
import type { MessageType } from "./descriptors";
import {
  errorStatus,
  functionIn,
  isMessage,
  isOfAuthor,
  MAX_STATUS_TEXT_LENGTH,
  metadataOf,
  sendOnce,
  statusTextOf,
  thrownIn,
} from "./handlers";
import { isAbsent } from "./message-check";
import { codeHint, statusCodeOf } from "./status";

export type Callback = sendUnaryData<unknown>;
export type HandlerCall = ServerUnaryCall<unknown, unknown> & Writable & { readonly readableEnded?: boolean };
export type Handler = (call: HandlerCall, callback: Callback) => unknown;

/** What is known of the handlers of a server. */
export interface Guarding {
  readonly log: Logger;
  /** What a method answers, by its path; undefined if it is unknown. */
  readonly answerTypeOf: (method: string) => MessageType | undefined;
  /** The handler of a method as it was added; undefined if it is unknown. */
  readonly handlerOf: (method: string) => unknown;
}

export interface GuardedMethod extends Guarding {
  readonly method: string;
  /** Its handler as it was added: grpc-js binds it, which hides its source. */
  readonly added: Handler;
  /** Tells how far the handler of a call is. */
  readonly follow: CallWatch["follow"];
  /** The answers that could not be encoded. */
  readonly unencoded: WeakSet<object>;
  /** Logs a warning of the method; of each field, where there is one: it hides no other. */
  readonly warnOf: (
    message: string,
    fields: LogFields,
    pace?: { readonly field?: string; readonly intervalMs?: number },
  ) => void;
}

const CUT_TEXT = `A status text is longer than ${MAX_STATUS_TEXT_LENGTH} characters, the rest is not sent`;
const MAX_LOGGED_TEXT_LENGTH = 65_536;

/** Fails a call when a listener of its handler throws; `onError` gets what it emits as error. Returns what logs the handler's errors. */
export function guardCall(
  call: HandlerCall,
  guarded: GuardedMethod,
  fail: (error: unknown) => void,
  onError?: (error: unknown) => void,
) {
  const { log, method } = guarded;
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
    (onError ?? report)(thrownIn(error));
    return emit(name, thrownIn(error) === error ? errorStatus(error, status.UNKNOWN) : error);
  };
  function report(error: unknown): void {
    // A handler that follows its signal ends so when the client is gone.
    const isEnd = call.cancelled && Object(error).name === "AbortError";
    const text = statusTextOf(error);
    if (statusCodeOf(error) === undefined) {
      const hint = isMistaken(error, call, guarded) ? PASSES_CONTEXT : codeHint(error);
      if (!isEnd) log.error(error, "A handler failed", { method, ...(hint && { hint }), ...UNHEARD });
    } else if (text.length > MAX_STATUS_TEXT_LENGTH)
      log.warn(CUT_TEXT, { method, text: text.slice(0, MAX_LOGGED_TEXT_LENGTH), length: text.length });
    const { metadata } = Object(error);
    if (!isAbsent(metadata) && !metadataOf(metadata)) warnOfMetadata(metadata, guarded);
  }
  return report;
}

/** Warns of a handler that takes its call for the request, where a field is undefined. */
function tellMisreading(call: HandlerCall, { added, warnOf }: GuardedMethod): void {
  const { request } = call;
  // The requests of a stream come one by one; unaryHandler hands on the request.
  if (!isObject(request) || functionIn(added)) return;
  // Behind the call's own properties, so that it has no field of the request.
  const behind = new Proxy(Object.create(Object.getPrototypeOf(call)), {
    get: (from, field, receiver) => {
      if (typeof field === "string" && Object.hasOwn(request, field) && !(field in from))
        warnOf(MISREAD, { field, hint: REQUEST_IS });
      return Reflect.get(from, field, receiver);
    },
  });
  Object.setPrototypeOf(call, behind);
}

const MISREAD = "A handler reads a field of the request from its call, where it is undefined";
const REQUEST_IS = "the request is call.request; unaryHandler((request) => answer) passes it";
const PASSES_CONTEXT = "unaryHandler passes (request, context), and sends what is returned";

/** What a handler failed with that calls back with its context, and one that reads of the request's `request` or `metadata`. */
const NOT_A_FUNCTION = /^[\w$]+ is not a function$/;
const NOT_READ = /^Cannot read properties of undefined \(reading '(\w+)'\)$/;

/** Whether a function for unaryHandler takes its context for a callback, or the request for its call. */
function isMistaken(error: unknown, { request, metadata }: HandlerCall, { added }: GuardedMethod): boolean {
  const handle = functionIn(added);
  const message = String(Object(error).message);
  const [, field = ""] = NOT_READ.exec(message) ?? [];
  const isCallback = Number(handle?.length) > 1 && NOT_A_FUNCTION.test(message);
  return handle !== undefined && (isCallback || field in Object(request) || field in metadata);
}

export function warnOfMetadata(given: unknown, { log, method }: GuardedMethod): void {
  const hint = `it is ${show(given)}; it takes Metadata, or an object with a text of printable ASCII a key`;
  log.error(undefined, "A handler's metadata is invalid, nothing of it is sent", {
    method,
    hint,
    ...UNHEARD,
  });
}

/** Not what `call.write`, a callback or a timer returns: one that is faked is a plain object with functions. */
export const isAnswer = (value: unknown, type?: MessageType) =>
  (isMessage(value) || (type !== undefined && isOfAuthor(value, type))) &&
  !ArrayBuffer.isView(value) &&
  !("emit" in Object(value)) &&
  !Object.values(Object(value)).some((field) => typeof field === "function");

/** Whether an answer, or a list with one, was returned: what has no field of its message, nor a mistyped one, may be anything else. */
export function hasAnswer(returned: unknown, type: MessageType | undefined): boolean {
  const isOfMessage = (value: unknown) => {
    const names = Object.keys(Object(value));
    if (type === undefined || names.length === 0 || isOfAuthor(value, type)) return true;
    return names.some((name) => nearWord(name, type.fields.keys(), 2) !== undefined);
  };
  return [returned].flat().some((value) => isAnswer(value, type) && isOfMessage(value));
}

/** What a handler that has a callback returned; undefined for a thenable that is not a native promise: awaiting a query runs it again. */
export const withoutQuery = (returned: unknown) =>
  isPromise(returned) && !types.isPromise(returned) ? undefined : returned;

/** Whether Node destroys a call because a `for await` has read it to the end, or has left it. */
export const isLeft = (error: Error | undefined) =>
  isAbsent(error) || (error?.name === "AbortError" && !("cause" in error));
