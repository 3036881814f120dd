import type { ServerHttp2Stream } from "node:http2";
import {
  type Server,
  type ServerInterceptingCall,
  type ServerInterceptor,
  type StatusObject,
  status,
} from "@grpc/grpc-js";
import { monotonicMs, startImmediate, startTimer, stopTimer } from "../base/pause";
import { type Logger, UNHEARD } from "../logging/logger";

type Call = Parameters<ServerInterceptor>[1];

/** How far a handler is with its call. */
interface HandlerProgress {
  readonly isAnswered: () => boolean;
  /** What it has not done. */
  readonly hint?: () => string | undefined;
}

/** A call from its arrival to its status, or to the end of its stream. */
interface WatchedCall {
  readonly method: string;
  readonly wire: Call;
  /** Absent before its handler gets it. */
  handler?: HandlerProgress;
  /** Messages and statuses that left its handler, and those that reached the wire. */
  sent: { fromHandler: number; toWire: number };
  /** Whether it is answered, or its handler and each interceptor have done their part. */
  readonly isSettled: () => boolean;
  /** Logs that it ended, once, unless it is settled. Never rejects. */
  readonly end: () => Promise<void>;
}

/** A client counts from when it sends a call, so that its reset may come that much before the deadline here. */
const EARLY_RESET_MS = 250;
/** kubelet sets a deadline; what a client without one waits for would be in no log. */
const UNANSWERED_AFTER_MS = 300_000;

const NO_HANDLER = "no handler got it: does an interceptor pass on what it receives?";
const NOT_PASSED_ON = "its handler has answered: does an interceptor pass on what is sent?";

/**
 * Logs each call that ends without an answer, whichever layer lost it: its handler, or an interceptor on either way. It stands on
 * both sides of the server's interceptors.
 */
export function watchCalls(server: Server, watching: Pick<Watching, "log" | "isCut" | "unansweredAfterMs">) {
  const internals = server as unknown as { interceptors: readonly ServerInterceptor[] };
  const { interceptors } = internals;
  const running = new Set<WatchedCall>();
  /** By the call of grpc-js that the handler's call has. */
  const reached = new WeakMap<object, WatchedCall>();
  // grpc-js makes a call with all interceptors at once, from the wire on.
  let arrived: WatchedCall | undefined;
  const arrive: ServerInterceptor = (definition, call) => {
    arrived = watchCall(call, { ...watching, running, definition, isIntercepted: interceptors.length > 0 });
    return call as ServerInterceptingCall;
  };
  const reach: ServerInterceptor = (_method, call) => {
    const watched = arrived;
    if (watched) reached.set(call, watched);
    if (watched && call !== watched.wire)
      followSends(call, () => {
        watched.sent.fromHandler += 1;
      });
    return call as ServerInterceptingCall;
  };
  internals.interceptors = [arrive, ...interceptors, reach];
  return {
    /** Tells how far the handler is that got this call. */
    follow: (call: object, handler: HandlerProgress): void => {
      const watched = reached.get(Object(call).call);
      if (watched) watched.handler = handler;
    },
    /** The methods of the calls that are not answered. */
    unanswered: (): readonly string[] =>
      [...running].filter(({ isSettled }) => !isSettled()).map(({ method }) => method),
    /** Logs the calls that were cut off, of which grpc-js tells later. */
    end: async (): Promise<void> => {
      await Promise.all([...running].map(({ end }) => end()));
    },
  };
}

export type CallWatch = ReturnType<typeof watchCalls>;

interface Watching {
  readonly log: Logger;
  /** Whether running calls were cut off by the server's end. */
  readonly isCut: () => boolean;
  /** When a call without a deadline is in the log, which a stream is not. @default UNANSWERED_AFTER_MS */
  readonly unansweredAfterMs?: number | undefined;
  readonly running: Set<WatchedCall>;
  readonly definition: Parameters<ServerInterceptor>[0];
  readonly isIntercepted: boolean;
}

function watchCall(call: Call, watching: Watching): WatchedCall {
  const { log, isCut, running, isIntercepted, unansweredAfterMs = UNANSWERED_AFTER_MS } = watching;
  const { path: method, requestStream, responseStream } = watching.definition;
  const startedAt = monotonicMs();
  const afterMs = () => Math.round(monotonicMs() - startedAt);
  const timeoutMs = Number(call.getDeadline()) - Date.now();
  let isAnswered = false;
  let isTimedOut = false;
  const isLate = () => isTimedOut || afterMs() >= timeoutMs - Math.min(EARLY_RESET_MS, timeoutMs / 2);
  // Before its end, an interceptor may filter what a stream sends.
  const isLost = () => watched.handler?.isAnswered() === true && sent.fromHandler > sent.toWire;
  const fieldsNow = () => {
    const { handler = { hint: () => NO_HANDLER } } = watched;
    const hint = isLost() ? NOT_PASSED_ON : handler.hint?.();
    return { method, afterMs: afterMs(), ...(hint && { hint }), ...UNHEARD };
  };

  const end = async () => {
    stopTimer(reminder);
    if (!running.delete(watched) || watched.isSettled()) return;
    const why = isLate() ? "its deadline passed" : "its client gave up";
    const wasCut = isCut();
    // A client may leave a stream, such as a watch, and a server may end one that has begun.
    const mayEnd = !isLate() && (!wasCut || sent.toWire > 0);
    if (responseStream && watched.handler && !isLost() && mayEnd) return;
    await new Promise((resolve) => startImmediate(resolve)); // A handler that follows its signal ends meanwhile.
    const fields = fieldsNow();
    if (wasCut) log.error(undefined, "Cut off a call that was not answered", fields);
    else log.warn("A call ended before it was answered", { ...fields, why });
  };
  const sent: WatchedCall["sent"] = { fromHandler: 0, toWire: 0 };
  const watched: WatchedCall = {
    method,
    wire: call,
    sent,
    isSettled: () =>
      isAnswered || (watched.handler ? watched.handler.isAnswered() && !isLost() : !isIntercepted),
    end,
  };
  const remind = () => {
    if (!watched.isSettled()) log.warn("A call without a deadline is not answered yet", fieldsNow());
  };
  const isEndless = timeoutMs === Number.POSITIVE_INFINITY && !requestStream && !responseStream;
  const reminder = isEndless ? startTimer(remind, unansweredAfterMs) : undefined;
  followSends(call, (given) => {
    // grpc-js (1.14) ends a call so when its deadline passes, by its own clock.
    isTimedOut ||= given?.code === status.DEADLINE_EXCEEDED && given.details === "Deadline exceeded";
    if (isTimedOut) return void end();
    sent.toWire += 1;
    if (given) isAnswered = true;
  });
  const { stream } = call as unknown as { readonly stream: ServerHttp2Stream };
  stream.once("close", end);
  running.add(watched);
  return watched;
}

/** Calls `see` before each message that a call sends, and with its status before that. */
function followSends(call: Call, see: (status?: Partial<StatusObject>) => void): void {
  const sendMessage = call.sendMessage.bind(call);
  const sendStatus = call.sendStatus.bind(call);
  const guards: Pick<Call, "sendMessage" | "sendStatus"> = {
    sendMessage: (message, callback) => {
      see();
      sendMessage(message, callback);
    },
    sendStatus: (status) => {
      see(Object(status));
      sendStatus(status);
    },
  };
  Object.assign(call, guards);
}
