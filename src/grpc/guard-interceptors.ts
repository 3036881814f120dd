import type {
  ServerInterceptingCall,
  ServerInterceptingCallInterface,
  ServerInterceptor,
} from "@grpc/grpc-js";
import { guardedCall, isPromise } from "../base/guarded-call";
import { type Logger, UNHEARD } from "../logging/logger";
import { show } from "../options/option-kinds";
import { errorStatus } from "./handlers";
import { codeHint, statusCodeOf } from "./status";

type Call = ServerInterceptingCallInterface;
type Fail = (error: unknown) => void;
type Step = (...given: unknown[]) => unknown;
type Steps = Record<string, unknown>;

/** The functions of a call, and of a listener, that grpc-js and interceptors call. */
const CALL = ["start", "sendMetadata", "sendMessage", "sendStatus", "startRead"];
const LISTENER = ["onReceiveMetadata", "onReceiveMessage", "onReceiveHalfClose", "onCancel"];

/**
 * The same interceptors. What one throws, at any time, also by a promise, ends its call with the status that a handler's error would
 * give it, and is an error in the log if it has no gRPC code. grpc-js (1.14) calls them where nothing catches that, and ignores their
 * promises: either would end the process.
 */
export function guardInterceptors(
  interceptors: readonly ServerInterceptor[],
  log: Logger,
): readonly ServerInterceptor[] {
  /** By each call, of grpc-js or of an interceptor. */
  const failures = new WeakMap<object, Fail>();

  /** The first time it sees a call of grpc-js, which ends it. */
  const failureOf = (call: Call, method: string): Fail => {
    const known = failures.get(call);
    if (known) return known;
    const sendStatus = call.sendStatus.bind(call);
    const fail: Fail = (error) => {
      const hint = codeHint(error);
      if (statusCodeOf(error) === undefined)
        log.error(error, "An interceptor failed", { method, ...(hint && { hint }), ...UNHEARD });
      sendStatus(errorStatus(error));
    };
    guardCall(call, fail);
    failures.set(call, fail);
    return fail;
  };

  return interceptors.map((intercept) => (method, inner) => {
    const fail = failureOf(inner, method.path);
    try {
      const call = intercept(method, inner);
      if (isPromise(call)) call.catch(fail);
      if (typeof Object(call).start !== "function")
        throw new TypeError(
          `an interceptor returned ${show(call)}; it takes a ServerInterceptingCall of its call`,
        );
      if (!failures.has(call)) guardCall(call, fail);
      failures.set(call, fail);
      return call;
    } catch (error) {
      fail(error);
      return inner as ServerInterceptingCall; // It has ended: no handler gets it.
    }
  });
}

function guardCall(call: Call, fail: Fail): void {
  const { responder } = call as { responder?: Steps };
  if (responder) {
    const { start, ...steps } = guarded(responder, CALL, fail);
    const guardListener = (next: Step) => (listener: unknown) =>
      next(guarded(Object(listener), LISTENER, fail));
    Object.assign(responder, steps, start && { start: (next: Step) => (start as Step)(guardListener(next)) });
  }
  Object.assign(call, guarded(call as unknown as Steps, CALL, fail));
}

/** Those of its functions that are named, each of which does not throw. */
function guarded(part: Steps, names: readonly string[], fail: Fail): Steps {
  const present = names.filter((name) => typeof part[name] === "function");
  return Object.fromEntries(
    present.map((name) => {
      const step = (part[name] as Step).bind(part);
      return [name, (...given: unknown[]) => guardedCall(() => step(...given), fail)];
    }),
  );
}
