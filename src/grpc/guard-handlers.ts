import type { Server } from "@grpc/grpc-js";
import { type LogFields, UNHEARD } from "../logging/logger";
import { createPacedWarning } from "../logging/repeats";
import { watchCalls } from "./call-watch";
import { answerOnce } from "./guard-answer";
import type { GuardedMethod, Guarding, Handler } from "./guard-call";
import { endOnError } from "./guard-stream";
import { faultOf } from "./handlers";
import { checkMessage } from "./message-check";

/**
 * Makes each call of a server end with an answer or a line in the log, whatever its handler does. grpc-js ignores what a handler
 * returns, and drops the error of a promise. A unary handler with a callback answers by it; of one that declares fewer than two
 * parameters, what it returns is its answer, but not undefined or what may be no answer if it may have a callback. The first answer
 * counts. Logged as errors, with the method: what a handler throws without a gRPC code, at any time; an answer that cannot be
 * encoded, or not as it is; a second answer; an answer that a handler with a callback returns; a call that was cut off. Warnings: a call
 * that ended unanswered, an answer with fields that are not sent, a handler that takes its call for the request.
 */
export function guardHandlers(
  server: Server,
  { isCut, unansweredAfterMs, ...guarding }: Guarding & Parameters<typeof watchCalls>[1],
) {
  const { log } = guarding;
  const { follow, ...calls } = watchCalls(server, { log, isCut, unansweredAfterMs });
  const register = server.register.bind(server);
  server.register = (method, handler, serialize, deserialize, type) => {
    const unencoded = new WeakSet<object>();
    const warnings = new Map<string, (fields: LogFields) => void>();
    const warnOf: GuardedMethod["warnOf"] = (message, fields, { field = "", intervalMs } = {}) => {
      const known = warnings.get(message + field);
      if (!known && field !== "" && warnings.size >= MAX_WARNINGS) return;
      const write = known ?? createPacedWarning(log, message, intervalMs);
      warnings.set(message + field, write);
      write({ method, ...fields, ...UNHEARD });
    };
    const encode: typeof serialize = (value) => {
      try {
        const answerType = guarding.answerTypeOf(method);
        const fault = faultOf(value, answerType ?? null); // An interceptor may send anything.
        if (fault) throw fault;
        const unsent = answerType === undefined ? [] : checkMessage(Object(value), answerType);
        for (const field of unsent) warnOf(UNSENT, { unsent: [field] }, { field });
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
      method,
      follow,
      added: (guarding.handlerOf(method) ?? handler) as Handler,
      unencoded,
      warnOf,
    });
    return register(method, guarded as never, encode, deserialize, type);
  };
  return calls;
}

const UNSENT = "A handler's answer has fields that its message lacks, they are not sent";

/** The keys of a map, or a list's indices, would make endless paths. */
const MAX_WARNINGS = 64;
