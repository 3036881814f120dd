import { status } from "@grpc/grpc-js";
import { BACKOFF, backoffMs } from "../../base/backoff";
import { errnoOf, messageOf, RegistrarError } from "../../base/errors";
import { pause } from "../../base/pause";
import type { PluginIdentity } from "../../grpc/protos";
import { statusCodeOf } from "../../grpc/status";
import { escapeUnprintable } from "../../logging/escape";
import type { Logger } from "../../logging/logger";
import {
  type AcceptingOptions,
  explainConnectError,
  untilAccepting,
  untilReplaced,
} from "../../unix/unix-socket";
import type { DriverCall } from "../model/events";
import type { ResolvedRegistrarOptions } from "../model/options";
import { type CallOutcome, connectDriver } from "./driver-connection";
import { createDriverPresence } from "./driver-presence";

export type WatchDriverOptions = Pick<
  ResolvedRegistrarOptions,
  "csiSocketPath" | "timeoutMs" | "driverTimeoutMs"
>;

export interface WatchDriverContext {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** How often a log line says that the registrar still waits for the driver. Milliseconds. @default 10000 */
  readonly remindEveryMs?: number | undefined;
}

interface CsiDriverObserver {
  /** The driver answered with its identity: at first, and again with each new connection; after `awayMs` if it was lost. */
  onAnswered(identity: PluginIdentity, awayMs: number | undefined): void;
  onLost(): void;
  /** The driver accepts no connections: its listen queue is full. */
  onStuck?(): void;
  onCall(call: DriverCall, outcome: CallOutcome): void;
}

/** After a connection that lasted less than this, the next one comes after a pause. */
const STEADY_AFTER_MS = 10_000;
/** Between two calls after an error that will hardly pass by itself. */
const SLOW_RETRY_MS = 30_000;

/**
 * Stays in touch with the CSI driver behind a unix socket: waits for it, asks its name, keeps a connection to notice
 * its end, and asks again when it is back (it may be another version, or another driver). A server that merely ends a
 * connection, for its age or because it is idle, has not gone: the watch connects and asks again. A driver has gone if
 * its socket is removed or replaced, even though it answers on open connections: kubelet cannot reach it.
 *
 * Runs until `signal` is aborted, then resolves. Rejects only with DRIVER_TIMEOUT, and with what the observer throws.
 */
export async function watchCsiDriver(
  options: WatchDriverOptions,
  context: WatchDriverContext,
  observer: CsiDriverObserver,
): Promise<void> {
  const { csiSocketPath, timeoutMs, driverTimeoutMs } = options;
  const address = `unix://${csiSocketPath}`;
  const log = context.log.named("watch-driver");
  const patience = new AbortController();
  const timer = driverTimeoutMs > 0 ? setTimeout(() => patience.abort(), driverTimeoutMs) : undefined;
  const signal = AbortSignal.any([context.signal, patience.signal]);
  const presence = createDriverPresence(log.with({ address }), observer.onLost);
  let failures = 0;
  let earlyLosses = 0;
  let nextAtMs = 0;
  /** The server that gets calls at the slow pace only. */
  let except: AcceptingOptions["except"];
  /** Why the last connection, and the last call, failed: for the error at the driver timeout. */
  let unreachable: Error | undefined;
  let failure: unknown;
  const limitOf = (error: unknown) =>
    statusCodeOf(error) === status.DEADLINE_EXCEEDED ? `; the timeout of a call is ${timeoutMs / 1000}s` : "";
  try {
    while (!signal.aborted) {
      log.v(5).info("Connecting", { address });
      const onRefused = (problem: Error) => {
        unreachable = problem;
        presence.lost();
        if (errnoOf(problem) === "EAGAIN") observer.onStuck?.();
      };
      const waiting = { log, signal, remindEveryMs: context.remindEveryMs, onRefused, except };
      const file = await untilAccepting(csiSocketPath, waiting);
      unreachable = undefined;
      presence.found(file);
      if (!(await pause(nextAtMs - performance.now(), signal))) break;

      const connection = connectDriver(csiSocketPath, { log, signal, onCall: observer.onCall });
      try {
        const identity = await connection.ask(timeoutMs);
        failures = 0;
        except = undefined;
        clearTimeout(timer);
        observer.onAnswered(identity, presence.answered(file));
        const lastedMs = await endOf(connection, csiSocketPath, file, signal);
        earlyLosses = lastedMs < STEADY_AFTER_MS ? earlyLosses + 1 : 0;
        nextAtMs = performance.now() + (earlyLosses > 0 ? backoffMs(BACKOFF.askDriver, earlyLosses - 1) : 0);
      } catch (error) {
        const code = statusCodeOf(error);
        if (signal.aborted || code === undefined) throw error;
        failure = error;
        presence.lost();
        const pace = PACES[code] ?? "soon";
        log.error(error, "Error retreiving CSI driver name", { next: `${NEXT[pace]}${limitOf(error)}` });
        nextAtMs = performance.now() + backoffMs(BACKOFF.askDriver, failures++);
        except = pace === "soon" ? undefined : { file, forMs: SLOW_RETRY_MS };
        if (pace === "after-restart") await endOf(connection, csiSocketPath, file, signal);
      } finally {
        connection.close();
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  if (!patience.signal.aborted) return;
  const limit = `the driver timeout of ${driverTimeoutMs / 1000} s`;
  const text = `no answer from the CSI driver on ${csiSocketPath} within ${limit}`;
  // A driver that fails and exits: what it answered says more than that its socket is gone.
  const last = failure === undefined ? explainConnectError(unreachable) : messageOf(failure);
  const why =
    last === undefined ? "" : `; the last attempt failed: ${escapeUnprintable(last)}${limitOf(failure)}`;
  throw new RegistrarError("DRIVER_TIMEOUT", `${text}${why}`, { cause: failure ?? unreachable });
}

/**
 * Resolves when the connection has ended, or when kubelet, which dials by path, would reach another driver or none.
 * Returns the milliseconds until then.
 */
async function endOf(
  { ended }: ReturnType<typeof connectDriver>,
  path: string,
  file: string,
  signal: AbortSignal,
): Promise<number> {
  const sinceMs = performance.now();
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  await Promise.race([ended(either), untilReplaced(path, file, either)]);
  over.abort();
  return performance.now() - sinceMs;
}

/** For the log. */
const NEXT = {
  "after-restart": "wait until the driver restarts: it does not implement GetPluginInfo",
  slowly: `retry in ${SLOW_RETRY_MS / 1000}s, or when the driver restarts`,
  soon: "retry",
};

/** When to repeat a failed call, if not soon. The CSI specification ("Error Scheme") forbids to repeat UNIMPLEMENTED. */
const PACES: Readonly<Partial<Record<number, "after-restart" | "slowly">>> = {
  [status.UNIMPLEMENTED]: "after-restart",
  [status.INVALID_ARGUMENT]: "slowly",
  [status.PERMISSION_DENIED]: "slowly",
  [status.UNAUTHENTICATED]: "slowly",
};
