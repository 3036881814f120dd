import { EventEmitter } from "node:events";
import type { Metadata } from "@grpc/grpc-js";
import { type CallContext, statusCodeOf, unaryHandler } from "../grpc/unary";
import { guardedCall, isPromise } from "../guarded-call";

/** What a method is told of its call: what grpc-js' `ServerUnaryCall` has, without its streams. */
export interface CsiCall<Request = unknown> extends EventEmitter {
  readonly request: Request;
  /** What the client sent along: `get("key")`. */
  readonly metadata: { get(key: string): readonly string[] };
  /** Whether nobody waits for the answer any more. The event `cancelled` tells the moment. */
  readonly cancelled: boolean;
  /** The same as a signal. */
  readonly signal: AbortSignal;
  getPath(): string;
  /** A unix socket has no other address. */
  getPeer(): string;
  /** Always Infinity: the client keeps its own deadline, and cancels the call at it. */
  getDeadline(): number;
  sendMetadata(metadata: Pick<Metadata, "getMap">): void;
}

/**
 * How a method ends a call by callback: with a failure, which may have a gRPC `code` and `details`, or a response. Trailers
 * and the `metadata` of a failure are not sent.
 */
export type CsiCallback = (error: unknown, response?: unknown) => void;

/**
 * A method of a driver as grpc-js takes it, `(call, callback)`; or one that returns its response, or a promise of it.
 * One that has at most one parameter and returns nothing responds with `{}`; one that takes the callback, also as
 * `...args`, may still return its response, and whatever it gives first counts. What it throws is answered as an error
 * that it passes to the callback would be: with its `code` if it has one; without one as INTERNAL, and the log has it
 * with its stack.
 */
export type CsiMethodHandler = (call: never, callback: never) => unknown;

/** Makes a method as our acceptor takes it. `tell` hears of what it, or a listener to `cancelled`, throws by mistake. */
export function unaryMethod(
  path: string,
  handlers: object,
  handler: CsiMethodHandler,
  tell: (error: unknown, what: string) => void,
): ReturnType<typeof unaryHandler<unknown, unknown>> {
  const hasCallback = handler.length > 1;
  const mayHaveCallback = hasCallback || takesAnyNumber(handler);
  // As grpc-js does: a driver may be a class, and is `this`.
  const answer = handler.bind(handlers) as (call: CsiCall, callback: CsiCallback) => unknown;
  return unaryHandler<unknown, unknown>((request, context) => {
    const call = createCall(path, request, context, (error) =>
      tell(error, "A listener to a call's end failed"),
    );
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      const respond = (response: unknown) => {
        isAnswered = true;
        resolve(response ?? {});
      };
      const fail = (error: unknown) => {
        if (isAnswered) tell(failureOf(error), "A method of the driver failed after its answer");
        isAnswered = true;
        reject(error);
      };
      const callback: CsiCallback = (error, response) =>
        error === null || error === undefined ? respond(response) : fail(error);
      const take = (returned: unknown, mayCallBack: boolean) => {
        if (!mayCallBack || canBeResponse(returned)) respond(returned);
      };
      try {
        const returned = answer(call, callback);
        if (isPromise(returned)) returned.then((response) => take(response, hasCallback), fail);
        else take(returned, mayHaveCallback);
      } catch (error) {
        fail(error);
      }
    }).catch((error: unknown) => {
      const failure = failureOf(error);
      // A gRPC code says that it was meant; anything else is a fault that only its stack explains.
      if (statusCodeOf(failure) === undefined) tell(failure, "A method of the driver failed");
      throw failure;
    });
  });
}

/**
 * Whether a function that returns nothing may have passed the callback on though it declares none, as the middleware
 * `(...args) => next(...args)` does. An answer before the callback would tell kubelet that a volume is mounted which is
 * not.
 */
const takesAnyNumber = (method: object): boolean =>
  /^[^(=]*\(\s*(?:[\w$]+\s*,\s*)?\.\.\.|\barguments[[.)]/.test(String(method));

/** A process, a timer or a number is what `(call, callback) => execFile("mount", args, callback)` leaves behind. */
function canBeResponse(returned: unknown): boolean {
  const { on, ref } = Object(returned) as { readonly on?: unknown; readonly ref?: unknown };
  const isObject = typeof returned === "object" && returned !== null;
  return isObject && typeof on !== "function" && typeof ref !== "function";
}

/**
 * What a method gave for an error, with the text that grpc-js would send: `details` where there are some, else the
 * message.
 */
function failureOf(given: unknown): Error & { readonly code?: unknown } {
  const { code, details, message } = Object(given) as Record<string, unknown>;
  if (typeof details !== "string" && typeof message === "string") return given as Error;
  const isBare = typeof given === "object" && typeof details !== "string";
  const text = isBare ? "Unknown Error" : String(details ?? given);
  return Object.assign(new Error(text, { cause: given }), { code });
}

function createCall(
  path: string,
  request: unknown,
  context: CallContext,
  onListenerError: (error: unknown) => void,
): CsiCall {
  const { metadata, peerGone } = context;
  const call = Object.defineProperty(new EventEmitter(), "cancelled", { get: () => peerGone.aborted });
  const tellCancelled = () => void guardedCall(() => call.emit("cancelled", "cancelled"), onListenerError);
  peerGone.addEventListener("abort", tellCancelled, { once: true });
  return Object.assign(call as EventEmitter & { readonly cancelled: boolean }, {
    request,
    metadata,
    signal: peerGone,
    getPath: () => path,
    getPeer: () => "unix:",
    getDeadline: () => Number.POSITIVE_INFINITY,
    sendMetadata: (sent: Pick<Metadata, "getMap">) => {
      const texts = Object.entries(sent.getMap()).map(([key, value]) => [key, String(value)]);
      context.sendMetadata(Object.fromEntries(texts));
    },
  });
}
