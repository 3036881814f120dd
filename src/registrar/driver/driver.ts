import { connectivityState, status } from "@grpc/grpc-js";
import { BACKOFF, type Backoff, backoffMs } from "../../base/backoff";
import { errnoOf, messageOf, RegistrarError } from "../../base/errors";
import type { EventSource } from "../../base/event-source";
import { followSignal, unlessAborted } from "../../base/pause";
import { connectErrorOf } from "../../grpc/client/answer";
import { callUnary, createUnixClient } from "../../grpc/client/unary";
import { identityMethods } from "../../grpc/methods";
import type { GetPluginInfoResponse } from "../../grpc/protos";
import { statusCodeOf } from "../../grpc/status";
import { escapeUnprintable } from "../../logging/escape";
import type { Logger } from "../../logging/logger";
import { versionOf } from "../../unix/file-identity";
import { findFile } from "../../unix/files";
import { type PathWatch, watchPath } from "../../unix/path-watch";
import { explainConnectError, tryConnect, whyNoSocket } from "../../unix/unix-socket";
import type { RegistrationEvent } from "../model/events";
import type { Inbox } from "../model/inbox";
import type { ResolvedRegistrarOptions } from "../model/options";
import { failedBy } from "../model/outcome";
import type { LoopEvent } from "../model/state";
import type { DriverHealth, DriverTrouble } from "../model/status";
import { admitDriverName } from "./driver-name";
import { createUnreached } from "./unreached";

export interface DriverContext {
  readonly log: Logger;
  readonly events: EventSource<RegistrationEvent>;
  /** Resolves when the driver may be registered under this name; a rename starts over. @default at once */
  readonly admit?: (name: string, log: Logger, onWithheld: (why: DriverTrouble) => void) => Promise<void>;
}

/**
 * What a name means that the driver answered. A node-wide registrar starts over under another name: the former one is free for
 * another driver, and the new one must be admitted.
 */
export function nameEvent(
  admittedAs: string | undefined,
  driverName: string,
  isNodeWide: boolean,
): LoopEvent {
  if (admittedAs === undefined) return { kind: "driver-named", driverName };
  if (!isNodeWide) return { kind: "driver-renamed", driverName };
  return { kind: "stop", outcome: { kind: "stopped" } };
}

/** Makes the driver of `options`: its name names the registration, a failure to learn it ends that. */
export function createDriver(options: ResolvedRegistrarOptions, { log, events, admit }: DriverContext) {
  const record = createRecord(options, log, events);
  let identity: GetPluginInfoResponse | undefined;
  let trouble: DriverTrouble | undefined;
  let admittedAs: string | undefined;

  const onNamed = async (name: string, inbox: Inbox<LoopEvent>) => {
    const event = nameEvent(admittedAs, name, options.isNodeWide);
    if (event.kind === "stop") {
      const facts = { was: admittedAs, csiDriverName: name };
      log.info("CSI driver came back under another name, starting over", facts);
      return inbox.put(event);
    }
    await admit?.(name, log, (why) => {
      trouble = why;
    });
    trouble = undefined;
    admittedAs = name;
    inbox.put(event);
  };

  const follow = async (inbox: Inbox<LoopEvent>, signal: AbortSignal): Promise<void> => {
    const fail = (error: unknown) => {
      if (signal.aborted) return;
      log.error(error, "Cannot register the CSI driver");
      trouble = { kind: "failed", text: messageOf(error) };
      inbox.put({ kind: "stop", outcome: failedBy(error) });
    };
    const onAnswered = (answer: GetPluginInfoResponse, awayMs: number | undefined) => {
      const { name, vendorVersion } = answer;
      const before = identity;
      const isOtherVersion = before?.vendorVersion !== vendorVersion;
      if (before?.name !== name) admitDriverName(name, log);
      identity = answer;
      events.emit({ kind: "driver-answered", identity, awayMs });
      if (before?.name !== name) {
        log.v(2).info("CSI driver name", { csiDriverName: name, vendorVersion });
        onNamed(name, inbox).catch(fail);
      } else if (options.reregisterOnDriverRestart && (awayMs !== undefined || isOtherVersion))
        inbox.put({ kind: "driver-restarted" });
      else if (isOtherVersion) {
        const was = before.vendorVersion;
        const message = "CSI driver came back as another version, its registration stays as it is";
        log.info(message, { was, vendorVersion });
      }
    };
    log.v(1).info("Attempting to open a gRPC connection", { csiAddress: options.csiAddress });
    await watchDriver(options, { log, signal, record, events, onAnswered }).catch(fail);
  };

  return {
    /** Puts what happens to the driver into the inbox, until `signal` is aborted. Never rejects. */
    follow,
    status: (): DriverHealth => {
      const { isThere: connected, noAnswer } = record.now();
      return { identity, connected, trouble: trouble ?? (identity ? undefined : noAnswer) };
    },
  };
}

interface WatchContext extends Omit<DriverContext, "admit"> {
  readonly signal: AbortSignal;
  readonly record: ReturnType<typeof createRecord>;
  /** Gets each answer, after `awayMs` if the driver was lost. */
  readonly onAnswered: (identity: GetPluginInfoResponse, awayMs: number | undefined) => void;
}

/**
 * Stays in touch with the CSI driver: waits for its socket, asks its name, keeps that connection to notice its end, and asks
 * again when it is back (it may be another version, or another driver). A driver has gone if its socket is removed or replaced,
 * even though it answers on open connections: kubelet cannot reach it.
 *
 * Each round looks at the file, and then waits or asks; after a wait it looks again, because what answers must be what was
 * looked at. Resolves when the signal is aborted. Rejects with DRIVER_TIMEOUT, and with what `onAnswered` throws.
 */
async function watchDriver(options: ResolvedRegistrarOptions, context: WatchContext): Promise<void> {
  const { csiSocketPath, driverTimeoutMs } = options;
  const { log, record } = context;
  using until = followSignal(context.signal);
  const { signal } = until;
  const limit = driverTimeoutMs > 0 ? setTimeout(() => until.abort(), driverTimeoutMs) : undefined;
  const onAnswered: WatchContext["onAnswered"] = (...answer) => {
    clearTimeout(limit);
    context.onAnswered(...answer);
  };
  try {
    using watch = await watchPath(csiSocketPath, log);
    while (!signal.aborted) {
      const found = await lookAt(csiSocketPath, signal);
      if (signal.aborted) break;
      const restMs = record.found(found);
      if (restMs > 0) {
        await watch.wait(signal, restMs);
        continue;
      }
      const asking = { ...context, signal, onAnswered, watch };
      const problem = typeof found === "string" ? await ask(found, options, asking) : found;
      if (problem === undefined || signal.aborted) continue;
      if (await watch.wait(signal, record.refused(problem))) record.hinted();
    }
  } finally {
    clearTimeout(limit);
  }
  if (!context.signal.aborted) throw timeoutError(options, record.failure());
}

/** What is at a path: a text that differs for each server, or why nothing can be dialled. Returns early at the signal. */
async function lookAt(path: string, signal: AbortSignal): Promise<string | Error> {
  const found = (await unlessAborted(findFile(path), signal)) ?? "hanging";
  return whyNoSocket(path, found) ?? (typeof found === "string" ? found : versionOf(found));
}

/** Asks the server behind a file, and keeps the connection until that or the file is gone. Returns why none was made. */
async function ask(
  file: string,
  { csiSocketPath, timeoutMs }: ResolvedRegistrarOptions,
  { log, signal, record, events, onAnswered, watch }: WatchContext & { readonly watch: PathWatch },
): Promise<Error | undefined> {
  if (record.isRefused()) {
    // Without a gRPC client, which costs three times as much. What accepts may be another file by now, which is asked once.
    const problem = await tryConnect(csiSocketPath);
    if (problem !== undefined || (await lookAt(csiSocketPath, signal)) !== file) return problem;
  }
  const { GetPluginInfo } = identityMethods;
  const method = GetPluginInfo.path;
  let connectedAtMs: number | undefined;
  const client = createUnixClient(csiSocketPath, {}, () => {
    if (connectedAtMs !== undefined) return; // grpc-js may dial again.
    connectedAtMs = performance.now();
    record.connected();
    log.v(1).info("Calling CSI driver to discover driver name");
    log.v(5).info("GRPC call", { method, request: "{}" });
  });
  const tell = (code: number, response: string, err?: string) => {
    const durationMs = performance.now() - (connectedAtMs ?? 0);
    events.emit({ kind: "driver-call", call: { method, code, durationMs } });
    log.v(5).info("GRPC response", { response, err });
  };
  try {
    const identity = await callUnary(client, GetPluginInfo, {}, { timeoutMs, signal });
    tell(status.OK, textOf(identity));
    // Where another socket took its place meanwhile, either server may have answered.
    if ((await lookAt(csiSocketPath, signal)) !== file || signal.aborted) return undefined;
    onAnswered(identity, record.answered(file));
    const channel = client.getChannel();
    const isOpen = () => channel.getConnectivityState(false) === connectivityState.READY;
    channel.watchConnectivityState(connectivityState.READY, Number.POSITIVE_INFINITY, watch.hint);
    for (let found: string | Error = file; isOpen() && !signal.aborted && isOrMayBe(file, found); ) {
      await watch.wait(signal);
      found = await lookAt(csiSocketPath, signal);
    }
    record.ended();
  } catch (error) {
    const code = statusCodeOf(error);
    if (signal.aborted) return undefined;
    if (code === undefined) throw error;
    if (connectedAtMs === undefined) return connectErrorOf(error);
    tell(code, "{}", messageOf(error));
    log.error(error, "Error retreiving CSI driver name", { next: record.failed(file, code, error as Error) });
  } finally {
    client.close();
  }
  return undefined;
}

/** Whether the file that was asked is still there, or may be: a look at it failed. */
const isOrMayBe = (file: string, found: string | Error) =>
  found === file || found === "unreadable" || errnoOf(found) === "ETIMEDOUT";

/** As the official registrar logs it: JSON with the protocol's names of the fields that are not empty. */
function textOf({ manifest, name, vendorVersion }: GetPluginInfoResponse): string {
  const fields = Object.entries({ manifest, name, vendor_version: vendorVersion });
  return JSON.stringify(Object.fromEntries(fields.filter(([, value]) => Object.keys(value).length > 0)));
}

/** After a connection that lasted less than this, the driver is asked again after a pause. */
const STEADY_AFTER_MS = 10_000;

/**
 * The waits after a failed call, if not the usual ones; another server at the path is asked at once. Repeated although the CSI
 * specification ("Error Scheme") forbids it for UNIMPLEMENTED: a server that listens before it has its services answers that
 * once, or HTTP 404.
 */
const SLOW_PACES: Readonly<Partial<Record<number, Backoff>>> = {
  [status.UNIMPLEMENTED]: BACKOFF.incompleteDriver,
  [status.INVALID_ARGUMENT]: BACKOFF.unfitDriver,
  [status.PERMISSION_DENIED]: BACKOFF.unfitDriver,
  [status.UNAUTHENTICATED]: BACKOFF.unfitDriver,
};

const silent = (text: string): DriverTrouble => ({ kind: "no-answer", text });

const hintFor = (code: number) =>
  code === status.DEADLINE_EXCEEDED ? "; if the driver is slow, raise --timeout" : "";

/** Makes the record of a driver: whether it is there, at first not, and when to ask it. Logs each loss and each return once. */
function createRecord(options: ResolvedRegistrarOptions, parentLog: Logger, events: DriverContext["events"]) {
  const log = parentLog.with({ address: `unix://${options.csiSocketPath}` });
  const unreached = createUnreached(options, log);
  /** The socket file behind which the driver answered; undefined after it was lost. */
  let present: string | undefined;
  let [answeredAtMs, endedAtMs] = [0, 0];
  /** In a row. */
  let [failedCalls, earlyEnds] = [0, 0];
  /** With `file`, only the server behind that file is not asked before. */
  let rest: { readonly untilMs: number; readonly file?: string | undefined } = { untilMs: 0 };
  let failure: Error | undefined;
  let noAnswer: DriverTrouble | undefined;

  const lost = () => {
    if (present === undefined) return;
    present = undefined;
    log.error(undefined, "Lost connection", { lasted: `${Math.round(endedAtMs - answeredAtMs) / 1000}s` });
    events.emit({ kind: "driver-lost" });
  };

  return {
    now: () => ({ isThere: present !== undefined, noAnswer }),
    /** Returns for how many milliseconds not to ask what is there. */
    found: (found: string | Error): number => {
      if (found !== present) lost();
      const isResting = typeof found === "string" && (rest.file ?? found) === found;
      const restMs = isResting ? rest.untilMs - performance.now() : 0;
      if (restMs <= 0 && unreached.why() === undefined) log.v(5).info("Connecting");
      return restMs;
    },
    /** No connection was made. Returns for how many milliseconds to wait. */
    refused: (why: Error): number => {
      lost();
      if (errnoOf(why) === "EAGAIN") noAnswer = silent("the CSI driver accepts no connections: it hangs");
      return unreached.because(why);
    },
    hinted: unreached.hinted,
    isRefused: () => unreached.why() !== undefined,
    connected: unreached.end,
    /** Returns for how many milliseconds it was lost; undefined if it was not. */
    answered: (file: string): number | undefined => {
      const nowMs = performance.now();
      const awayMs = present || answeredAtMs === 0 ? undefined : Math.round(nowMs - endedAtMs);
      if (awayMs !== undefined) log.info("Connection restored", { after: `${awayMs / 1000}s` });
      // For its age, or because it was idle.
      if (present) log.v(2).info("The driver ended a connection, and is still there");
      [present, answeredAtMs, failedCalls] = [file, nowMs, 0];
      return awayMs;
    },
    /** Returns what comes next, for the log. */
    failed: (file: string, code: number, why: Error): string => {
      lost();
      failure = why;
      noAnswer = silent(`GetPluginInfo of the CSI driver fails: ${messageOf(why)}`);
      const slow = SLOW_PACES[code];
      const waitMs = backoffMs(slow ?? BACKOFF.askDriver, failedCalls++);
      rest = { untilMs: performance.now() + waitMs, file: slow && file };
      return slow ? `retry in ${waitMs / 1_000}s, or when the driver restarts` : `retry${hintFor(code)}`;
    },
    /** The connection ended after the answer, or the file is gone. */
    ended: (): void => {
      endedAtMs = performance.now();
      if (endedAtMs - answeredAtMs >= STEADY_AFTER_MS) earlyEnds = 0;
      else rest = { untilMs: endedAtMs + backoffMs(BACKOFF.askDriver, earlyEnds++) };
    },
    /** The failure that says most: what a driver answered before it exited, rather than that its socket is gone. */
    failure: () => failure ?? unreached.why(),
  };
}

function timeoutError(
  { csiSocketPath, driverTimeoutMs }: ResolvedRegistrarOptions,
  cause: Error | undefined,
): RegistrarError {
  const text = `no answer from the CSI driver on ${csiSocketPath} within the driver timeout of ${driverTimeoutMs / 1000} s`;
  const last = explainConnectError(cause);
  const why = last === undefined ? "" : `; the last attempt failed: ${escapeUnprintable(last)}`;
  return new RegistrarError("DRIVER_TIMEOUT", text + why, { cause });
}
