import { once } from "node:events";
import { status } from "@grpc/grpc-js";
import { BACKOFF, type Backoff, backoffMs } from "../../base/backoff";
import { errnoOf, messageOf, RegistrarError } from "../../base/errors";
import { followSignal, pause } from "../../base/pause";
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
import { connectDriver } from "./driver-connection";

type WatchOptions = Pick<
  ResolvedRegistrarOptions,
  "csiSocketPath" | "timeoutMs" | "driverTimeoutMs" | "isNodeWide"
>;

export interface WatchDriverContext extends Pick<AcceptingOptions, "log" | "signal"> {
  /** The driver answered: at first, and again with each new connection; after `awayMs` if it was lost. */
  onAnswered(identity: PluginIdentity, awayMs: number | undefined): void;
  onNoAnswer(text: string): void;
  onLost(): void;
  onCall(call: DriverCall): void;
}

/** After a connection that lasted less than this, the next one comes after a pause. */
const STEADY_AFTER_MS = 10_000;
/** A log line about a dead socket every 10 minutes: on a node they are nothing special. */
const REMIND_NODE_WIDE_EVERY_MS = 600_000;

/**
 * Stays in touch with the CSI driver behind a unix socket: waits for it, asks its name, keeps a connection to notice
 * its end, and asks again when it is back (it may be another version, or another driver). A driver has gone if its socket is
 * removed or replaced, even though it answers on open connections: kubelet cannot reach it.
 *
 * Runs until the signal is aborted, then resolves. Rejects only with DRIVER_TIMEOUT, and with what `context` throws.
 */
export async function watchCsiDriver(options: WatchOptions, context: WatchDriverContext): Promise<void> {
  const { csiSocketPath, timeoutMs, driverTimeoutMs } = options;
  const { onCall } = context;
  const remindEveryMs = options.isNodeWide ? REMIND_NODE_WIDE_EVERY_MS : undefined;
  const address = `unix://${csiSocketPath}`;
  const log = context.log.named("watch-driver");
  const patience = new AbortController();
  const timer = driverTimeoutMs > 0 ? setTimeout(() => patience.abort(), driverTimeoutMs) : undefined;
  const signal = AbortSignal.any([context.signal, patience.signal]);
  const presence = createPresence(log.with({ address }), context.onLost);
  const pace = createAskPace();
  /** Why the last connection, and the last call, failed: for the error at the driver timeout. */
  let unreachable: Error | undefined;
  let failure: unknown;
  const onRefused = (problem: Error) => {
    unreachable = problem;
    presence.lost();
    if (errnoOf(problem) === "EAGAIN") context.onNoAnswer("the CSI driver accepts no connections: it hangs");
  };
  try {
    while (!signal.aborted) {
      log.v(5).info("Connecting", { address });
      const { except } = pace;
      const file = await untilAccepting(csiSocketPath, { log, signal, remindEveryMs, onRefused, except });
      unreachable = undefined;
      presence.found(file);
      if (!(await pace.untilDue(signal))) break;

      using connection = connectDriver(csiSocketPath, { log, signal, onCall });
      try {
        const identity = await connection.ask(timeoutMs);
        pace.answered();
        clearTimeout(timer);
        context.onAnswered(identity, presence.answered(file));
        await untilEnded(connection, csiSocketPath, file, { log, signal });
        pace.ended();
      } catch (error) {
        const code = statusCodeOf(error);
        if (signal.aborted || code === undefined) throw error;
        failure = error;
        presence.lost();
        context.onNoAnswer(`GetPluginInfo of the CSI driver fails: ${messageOf(error)}`);
        log.error(error, "Error retreiving CSI driver name", { next: pace.failed(code, file) });
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  if (patience.signal.aborted) throw timeoutError(options, failure, unreachable);
}

function timeoutError(
  { csiSocketPath, driverTimeoutMs }: WatchOptions,
  failure: unknown,
  unreachable: Error | undefined,
): RegistrarError {
  const text = `no answer from the CSI driver on ${csiSocketPath} within the driver timeout of ${driverTimeoutMs / 1000} s`;
  // A driver that fails and exits: what it answered says more than that its socket is gone.
  const last = failure === undefined ? explainConnectError(unreachable) : messageOf(failure);
  const why = last === undefined ? "" : `; the last attempt failed: ${escapeUnprintable(last)}`;
  return new RegistrarError("DRIVER_TIMEOUT", `${text}${why}`, { cause: failure ?? unreachable });
}

/** When the driver is asked next: later after each call that failed, and after each connection that ended early. */
function createAskPace() {
  let [failures, earlyLosses, nextAtMs, answeredAtMs] = [0, 0, 0, 0];
  let except: AcceptingOptions["except"];
  return {
    /** The server that is asked only after a long wait, unless another takes its place. */
    get except() {
      return except;
    },
    untilDue: (signal: AbortSignal) => pause(nextAtMs - performance.now(), signal),
    answered: () => {
      failures = 0;
      except = undefined;
      answeredAtMs = performance.now();
    },
    ended: () => {
      const lastedMs = performance.now() - answeredAtMs;
      earlyLosses = lastedMs < STEADY_AFTER_MS ? earlyLosses + 1 : 0;
      nextAtMs = performance.now() + (earlyLosses > 0 ? backoffMs(BACKOFF.askDriver, earlyLosses - 1) : 0);
    },
    /** Returns what comes next, for the log. */
    failed: (code: number, file: string): string => {
      const slow = SLOW_PACES[code];
      const waitMs = backoffMs(slow ?? BACKOFF.askDriver, failures++);
      except = slow && { file, forMs: waitMs };
      if (!slow) nextAtMs = performance.now() + waitMs;
      return slow ? `retry in ${waitMs / 1_000}s, or when the driver restarts` : "retry";
    },
  };
}

/** Makes the record of whether a CSI driver is there; at first it is not. Logs each loss and each return once. */
function createPresence(log: Logger, onLost: () => void) {
  /** The socket file behind which the driver answered; undefined after it was lost. */
  let present: string | undefined;
  let answeredAtMs = 0;
  let lostAtMs: number | undefined;

  const lost = () => {
    if (present === undefined) return;
    present = undefined;
    lostAtMs = performance.now();
    log.error(undefined, "Lost connection", { lasted: `${Math.round(lostAtMs - answeredAtMs) / 1000}s` });
    onLost();
  };

  return {
    lost,
    found: (file: string) => {
      // The driver merely ended a connection, for its age or because it was idle.
      if (present === file) log.v(2).info("The driver ended a connection, and is still there");
      else lost();
    },
    /** The driver has answered. Returns for how many milliseconds it was lost; undefined if it was not. */
    answered: (file: string): number | undefined => {
      const awayMs = lostAtMs === undefined ? undefined : Math.round(performance.now() - lostAtMs);
      if (awayMs !== undefined) log.info("Connection restored", { after: `${awayMs / 1000}s` });
      present = file;
      answeredAtMs = performance.now();
      lostAtMs = undefined;
      return awayMs;
    },
  };
}

/**
 * Resolves when the connection has ended, or kubelet, which dials by path, would reach another driver or none; and when `signal`
 * is aborted.
 */
async function untilEnded(
  { ended }: ReturnType<typeof connectDriver>,
  path: string,
  file: string,
  { log, signal }: Pick<WatchDriverContext, "log" | "signal">,
): Promise<void> {
  if (signal.aborted) return;
  using over = followSignal(signal);
  // `untilReplaced` alone would be late: its look at the file may hang.
  const aborted = once(over.signal, "abort");
  await Promise.race([ended(), untilReplaced(path, file, { log, signal: over.signal }), aborted]);
  over.abort();
}

/**
 * The waits after a failed call, if not the usual ones. Repeated although the CSI specification ("Error Scheme") forbids it for
 * UNIMPLEMENTED: a server that listens before it has its services answers that once, or HTTP 404.
 */
const SLOW_PACES: Readonly<Partial<Record<number, Backoff>>> = {
  [status.UNIMPLEMENTED]: BACKOFF.incompleteDriver,
  [status.INVALID_ARGUMENT]: BACKOFF.unfitDriver,
  [status.PERMISSION_DENIED]: BACKOFF.unfitDriver,
  [status.UNAUTHENTICATED]: BACKOFF.unfitDriver,
};
