import { types } from "node:util";
import { show } from "../options/option-kinds";
import type { MessageType } from "./descriptors";
import {
  type GuardedMethod,
  guardCall,
  type Handler,
  type HandlerCall,
  hasAnswer,
  isLeft,
  withoutQuery,
} from "./guard-call";
import { errorStatus, faultOf, functionIn } from "./handlers";
import { isAbsent } from "./message-check";

/** Of a call with a stream of answers, which its handler ends. */
export function endOnError(handle: Handler, guarded: GuardedMethod): (call: HandlerCall) => void {
  return (call) => {
    const fail = (error: unknown) => call.emit("error", errorStatus(error));
    // grpc-js ends a call with an error when it cannot encode an answer, and sends nothing more.
    let sending: unknown;
    const send = call._write.bind(call);
    call._write = (message, ...more) => {
      sending = message;
      send(message, ...more);
    };
    guardCall(call, guarded, fail);
    guarded.follow(call, { isAnswered: () => call.writableEnded || guarded.unencoded.has(Object(sending)) });
    const type = guarded.answerTypeOf(guarded.method);
    guardStream(call, type ?? null, fail);
    const calledBack = () => fail(new TypeError(`the handler called back; ${STREAM_TAKES}`));
    const { added } = guarded;
    // What unaryHandler made knows by the missing callback that the method has a stream.
    const given = [
      call,
      ...(functionIn(added) || added.length < 2 ? [] : [calledBack]),
    ] as unknown as Parameters<Handler>;
    new Promise((resolve) => resolve(withoutQuery(handle(...given))))
      .then((returned) => {
        const isForgotten = hasAnswer(returned, type) || types.isGeneratorObject(returned);
        if (!isForgotten || sending !== undefined || call.writableEnded || call.cancelled) return;
        fail(new TypeError(`the handler returned ${show(returned)}; ${STREAM_TAKES}`));
      })
      .catch(fail);
  };
}

const STREAM_TAKES = "a stream's answers are written with call.write(), then call.end()";

const DESTROYED =
  "the handler destroyed its call, as leaving a `for await` early does, before it had ended it";

/** Makes errors of answers that grpc-js would drop or throw for too late, and of a destroyed call, which it would never end. */
function guardStream(
  call: HandlerCall,
  answerType: MessageType | null,
  fail: (error: unknown) => void,
): void {
  const write = call.write.bind(call) as (...given: unknown[]) => boolean;
  const end = call.end.bind(call) as (trailers: unknown) => HandlerCall;
  const destroy = call.destroy.bind(call);
  const guards = {
    write: (message: unknown, ...more: unknown[]): boolean => {
      const fault = faultOf(message, answerType);
      if (!isAbsent(message) && fault === undefined) return write(message, ...more);
      const text = `the handler wrote ${show(message)}; it takes an object, {} for an empty answer`;
      fail(fault ?? new TypeError(text));
      return false;
    },
    end: (trailers: unknown): HandlerCall => {
      const isMetadata = typeof Object(trailers).toHttp2Headers === "function";
      if (isMetadata || isAbsent(trailers)) return end(trailers);
      const text = `the handler ended its call with ${show(trailers)}; end() takes Metadata, and write() an answer`;
      fail(new TypeError(text));
      return call;
    },
    destroy: (error?: Error): HandlerCall => {
      if (call.cancelled || call.writableFinished) return destroy(error);
      if (!isLeft(error)) call.emit("error", error);
      else if (!call.readableEnded) fail(new Error(DESTROYED));
      return call;
    },
  };
  Object.assign(call, guards);
}
