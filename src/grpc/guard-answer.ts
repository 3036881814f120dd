import { status } from "@grpc/grpc-js";
import { isPromise } from "../base/guarded-call";
import { UNHEARD } from "../logging/logger";
import { show } from "../options/option-kinds";
import { takesCallback } from "./callback-parameter";
import type { MessageType } from "./descriptors";
import {
  type Callback,
  type GuardedMethod,
  guardCall,
  type Handler,
  hasAnswer,
  isAnswer,
  isLeft,
  warnOfMetadata,
  withoutQuery,
} from "./guard-call";
import { errorStatus, faultOf, functionIn, JUDGES, metadataOf, readableError, thrownIn } from "./handlers";
import { isAbsent } from "./message-check";

/** Of a call with one answer. */
export function answerOnce(handle: Handler, guarded: GuardedMethod): Handler {
  const { log, method, added } = guarded;
  const takes = takesCallback(added);
  return (call, callback) => {
    const type = guarded.answerTypeOf(method);
    let isAnswered = false;
    let answered: unknown;
    let hint: string | undefined;
    const fail = (error: unknown) => (isAnswered ? report(error) : answer(errorStatus(error)));
    const report = guardCall(call, guarded, fail, (error) => {
      if (isAnswered) report(error);
      else if (error) answer(error);
      else fail(error);
    });
    let hasReturned = false;
    const hintOf = () => (hasReturned && !functionIn(added) ? NEVER_CALLED_BACK : STILL_PENDING);
    guarded.follow(call, {
      isAnswered: () => isAnswered,
      hint: () => (isAnswered ? undefined : hintOf()),
    });
    const judge: Callback = (given, value, trailer, flags) => {
      if (isAnswered) {
        const fields = { method, ...(hint && { hint }), ...UNHEARD };
        const again = given ? thrownIn(given) : new Error("the second answer");
        return log.error(again, "A handler answered twice, the first answer counts", fields);
      }
      isAnswered = true;
      answered = value;
      const { error, code, isIgnored } = judgeAnswer(given, value, type);
      if (error) report(thrownIn(error));
      const trailers = metadataOf(trailer);
      if (!trailers && !isAbsent(trailer)) warnOfMetadata(trailer, guarded);
      if (error) callback(errorStatus(error, code), null, trailers);
      else {
        const hasFields = Number(type?.fields.size) > 0;
        if (hasFields && isAbsent(value)) guarded.warnOf(NO_ANSWER, { hint: RETURNS }, ONCE);
        if (isIgnored) guarded.warnOf(IGNORED, { answered: show(value) }, ONCE);
        callback(null, isIgnored ? {} : (value ?? {}), trailers, flags);
      }
    };
    const answer = Object.assign(judge, { [JUDGES]: true });
    // grpc-js gives one request with a stream for answers, of which it sends none or many.
    if ("write" in call)
      Object.assign(call, {
        write: (value: unknown) => answer(null, value),
        end: () => isAnswered || fail(new TypeError(NOTHING_WRITTEN)),
      });
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
      const value = await (takes === "no" ? returned : withoutQuery(returned));
      if (isAnswered && value !== answered && hasAnswer(value, type)) guarded.warnOf(RETURNED, {}, ONCE);
      if (isAnswered) return;
      if (takes === "no" || (takes === "unknown" && !Array.isArray(value) && hasAnswer(value, type))) {
        hint = RETURN_ANSWERS;
        answer(null, value);
      } else if (takes === "yes" && hasAnswer(value, type)) {
        hint = "it returned an answer before, which failed its call";
        fail(new TypeError(FORGOTTEN));
      } else hasReturned = true;
    };
    run()
      .catch(fail)
      .catch(() => {}); // The client is gone.
  };
}

/** The error that a handler called back with, or made by its answer; else whether its message has no place for that. */
function judgeAnswer(given: unknown, value: unknown, type: MessageType | undefined) {
  const readable = given && readableError(given);
  const isMisplaced =
    isAbsent(value) && isAnswer(readable) && !ERROR_FIELDS.some((name) => name in Object(readable));
  if (isMisplaced) return { error: new TypeError(MISPLACED) };
  if (readable) return { error: readable, code: status.UNKNOWN };
  const error = faultOf(value, type ?? null);
  // What fs.mkdir, for one, calls back with.
  const isIgnored = error instanceof TypeError && type?.fields.size === 0 && !isPromise(value);
  return isIgnored ? { isIgnored } : { error };
}

const ONCE = { intervalMs: Number.POSITIVE_INFINITY };
const NO_ANSWER = "A handler answered nothing, and its message has fields: it is sent empty";
const IGNORED = "A handler answered a value, and its message has no fields: it is sent empty";
const RETURNED = "A handler returned an answer after it had called back; only its callback counts";
/** Why a callback came too late. */
const RETURN_ANSWERS =
  "it declares fewer than two parameters, so what it returned was its answer; declare (call, callback)";

const RETURNS = "is a return or an argument missing? {} is the empty answer";
const STILL_PENDING = "its promise is still pending";
const NEVER_CALLED_BACK =
  "it has returned, and its callback was not called; if nothing was to call it later, write unaryHandler((request, context) => answer), or (call, callback) => callback(null, answer)";

const NOTHING_WRITTEN = "the handler ended its call without an answer; write callback(null, answer)";
const ERROR_FIELDS = ["code", "details", "message", "metadata"];
const MISPLACED = "the handler called callback(answer); write callback(null, answer)";
const FORGOTTEN =
  "the handler returned an answer, but declares a callback; write unaryHandler((request, context) => answer), or (call, callback) => callback(null, answer)";
