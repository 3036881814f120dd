import { type Client, connectivityState, status } from "@grpc/grpc-js";
import { BACKOFF, backoffMs } from "../../backoff";
import { messageOf, RegistrarError } from "../../errors";
import type { PluginIdentity, Protos } from "../../grpc/protos";
import { callUnary, createUnixClient, statusCodeOf } from "../../grpc/unary";
import type { Logger } from "../../logging/logger";
import { hintOrPause, pause } from "../../pause";
import { watchPath } from "../../sockets/path-watch";
import { untilAccepting } from "../../sockets/unix-socket";
import type { DriverCall } from "../events";
import { createDriverPresence, type DriverConnection } from "./driver-presence";

/** How the CSI driver is waited for and asked. */
export interface CsiDriverOptions {
  /** Path of the CSI driver socket, as this process sees it. */
  readonly csiSocketPath: string;
  /** Bounds each single GetPluginInfo call, in milliseconds. */
  readonly timeoutMs: number;
  /** Fail when the driver has not told its name this many milliseconds after the start; 0 waits without end. */
  readonly driverTimeoutMs: number;
}

/** What a watch of a CSI driver works with. */
export interface CsiDriverContext {
  readonly protos: Protos;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** How often a log line says that the driver is still waited for. Milliseconds. @default 10000 */
  readonly remindEveryMs?: number | undefined;
}

/** What is told about the CSI driver. */
export interface CsiDriverObserver {
  /** The driver told its identity: at first, and again with each new connection; after `awayMs` if it was lost. */
  onAnswered(identity: PluginIdentity, awayMs: number | undefined): void;
  onLost(): void;
  onCall(call: DriverCall): void;
}

/** After a connection that lived shorter than this the next one is made after a pause. */
const STEADY_AFTER_MS = 10_000;
/** Between two calls after an error that will hardly pass by itself. */
const SLOW_RETRY_MS = 30_000;

/**
 * Stays in touch with the CSI driver behind a unix socket: waits for it, asks its name, keeps a connection to notice
 * that it went, and asks again when it is back (it may be another version, or another driver). A server that merely
 * ends a connection, for its age or because it is idle, has not gone; it is connected to and asked again.
 *
 * Runs until `signal` is aborted, then resolves. Rejects only with DRIVER_TIMEOUT, and with what the observer throws.
 */
export async function watchCsiDriver(
  options: CsiDriverOptions,
  context: CsiDriverContext,
  observer: CsiDriverObserver,
): Promise<void> {
  const { remindEveryMs } = context;
  const log = context.log.named("csi-driver");
  const address = `unix://${options.csiSocketPath}`;
  const patience = startPatience(options, context.signal);
  const { signal } = patience;
  let failures = 0;
  let earlyLosses = 0;
  const presence = createDriverPresence(options.csiSocketPath, { log, signal, onLost: observer.onLost });
  try {
    while (!signal.aborted) {
      log.v(5).info("Connecting", { address });
      if (!presence.isThere) await untilAccepting(options.csiSocketPath, { log, signal, remindEveryMs });
      const connection = presence.connecting();
      const client = createUnixClient(options.csiSocketPath);
      try {
        const identity = await askIdentity(
          client,
          options.timeoutMs,
          { protos: context.protos, log, signal },
          observer,
        );
        failures = 0;
        patience.end();
        observer.onAnswered(identity, connection.answered());
        await untilDisconnected(client, signal);
        if (signal.aborted) return;
        await connection.ended();
        if (connection.lastedMs >= STEADY_AFTER_MS) earlyLosses = 0;
        else await pause(backoffMs(BACKOFF.askDriver, earlyLosses++), signal);
      } catch (error) {
        if (signal.aborted || statusCodeOf(error) === undefined) throw error;
        connection.failed();
        const untilRestarted = (ms: number) =>
          untilReplaced(connection, options.csiSocketPath, ms, { client, log, signal });
        await pauseAfter(error, failures++, untilRestarted, { log, signal });
      } finally {
        client.close();
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    patience.close();
  }
  patience.throwIfOut();
}

/** One signal for the caller's abort and for the end of our patience; `close` leaves nothing behind. */
function startPatience({ driverTimeoutMs, csiSocketPath }: CsiDriverOptions, callerSignal: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let out = false;
  const runOut = () => {
    out = true;
    abort();
  };
  const timer = driverTimeoutMs > 0 ? setTimeout(runOut, driverTimeoutMs) : undefined;
  if (callerSignal.aborted) abort();
  else callerSignal.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    end: () => clearTimeout(timer),
    close: () => {
      clearTimeout(timer);
      callerSignal.removeEventListener("abort", abort);
    },
    throwIfOut: () => {
      if (!out) return;
      const limit = `--driver-timeout=${driverTimeoutMs / 1000}s`;
      throw new RegistrarError(
        "DRIVER_TIMEOUT",
        `no answer from the CSI driver on ${csiSocketPath} within ${limit}`,
      );
    },
  };
}

/** One GetPluginInfo call. */
async function askIdentity(
  client: Client,
  timeoutMs: number,
  { protos, log, signal }: { readonly protos: Protos; readonly log: Logger; readonly signal: AbortSignal },
  observer: CsiDriverObserver,
): Promise<PluginIdentity> {
  const method = protos.identity.GetPluginInfo;
  const startedAt = performance.now();
  const record = (code: number | undefined) =>
    observer.onCall({ method: method.path, code, durationMs: performance.now() - startedAt });
  log.v(1).info("Calling CSI driver to discover driver name");
  log.v(5).info("GRPC call", { method: method.path, request: "{}" });
  try {
    const identity = await callUnary(client, method, {}, { timeoutMs, signal });
    record(status.OK);
    log.v(5).info("GRPC response", { response: identityText(identity), err: undefined });
    return identity;
  } catch (error) {
    if (!signal.aborted) record(statusCodeOf(error));
    log.v(5).info("GRPC response", { response: "{}", err: messageOf(error) });
    throw error;
  }
}

/** Says that the driver could not be asked, and waits as long as the failure calls for (CSI specification, error scheme). */
async function pauseAfter(
  error: unknown,
  failures: number,
  untilRestarted: (ms: number) => Promise<void>,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const say = (next: string) => log.error(error, "Error retreiving CSI driver name", { next });
  switch (statusCodeOf(error)) {
    case status.UNIMPLEMENTED:
      // The specification forbids to repeat the call, which a restarted driver may answer.
      say("wait until the driver restarts: it does not implement GetPluginInfo");
      return untilRestarted(Number.POSITIVE_INFINITY);
    case status.INVALID_ARGUMENT:
    case status.PERMISSION_DENIED:
    case status.UNAUTHENTICATED:
      say(`retry in ${SLOW_RETRY_MS / 1000}s, or when the driver restarts`);
      return untilRestarted(SLOW_RETRY_MS);
    default:
      say("retry");
      await pause(backoffMs(BACKOFF.askDriver, failures), signal);
  }
}

/**
 * Resolves when the driver has restarted, which makes another socket file, or after `ms`. A server that merely ends its
 * connections, for their age or because they are idle, has not restarted. One that restarts behind the same file (by
 * socket activation) looks the same: so after the end of a connection the wait is `SLOW_RETRY_MS` at most.
 */
async function untilReplaced(
  connection: DriverConnection,
  socketPath: string,
  ms: number,
  { client, log, signal }: { readonly client: Client; readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const watch = watchPath(socketPath, log);
  let until = performance.now() + ms;
  void untilDisconnected(client, signal).then(() => {
    until = Math.min(until, performance.now() + SLOW_RETRY_MS);
    watch.hint();
  });
  try {
    let isHinted = true;
    while (isHinted && !signal.aborted && !connection.isReplaced) {
      isHinted = await hintOrPause(watch.changed(), until - performance.now(), signal);
      watch.rearm();
    }
  } finally {
    watch.close();
  }
}

/** Resolves when the client's connection is gone, or `signal` is aborted. */
function untilDisconnected(client: Client, signal: AbortSignal): Promise<void> {
  const channel = client.getChannel();
  // Node does not wait for an idle channel: before there is a registration socket, the process would just end.
  const stayAlive = setInterval(() => {}, 2 ** 31 - 1);
  return new Promise((resolve) => {
    const look = () => {
      const state = channel.getConnectivityState(false);
      if (signal.aborted || state !== connectivityState.READY) {
        clearInterval(stayAlive);
        signal.removeEventListener("abort", look);
        resolve();
      } else {
        channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, look);
      }
    };
    signal.addEventListener("abort", look, { once: true });
    look();
  });
}

/** An identity as the official registrar logs it: JSON with the protocol's names of the fields that are not empty. */
function identityText({ manifest, name, vendorVersion }: PluginIdentity): string {
  const fields = { manifest, name, vendor_version: vendorVersion };
  const told = Object.entries(fields).filter(([, value]) => Object.keys(value).length > 0);
  return JSON.stringify(Object.fromEntries(told));
}
