import { messageOf } from "../../base/errors";
import type { EventSource } from "../../base/event-source";
import type { PluginIdentity } from "../../grpc/protos";
import type { Logger } from "../../logging/logger";
import type { RegistrarEvent } from "../model/events";
import type { Inbox } from "../model/inbox";
import type { ResolvedRegistrarOptions } from "../model/options";
import { failedBy } from "../model/outcome";
import type { LoopEvent } from "../model/state";
import type { DriverHealth, DriverTrouble } from "../model/status";
import { admitDriverName } from "./driver-name";
import { type WatchDriverContext, watchCsiDriver } from "./watch-driver";

export interface DriverEventsContext {
  readonly log: Logger;
  readonly events: EventSource<RegistrarEvent>;
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
  return { kind: "stop", reason: "driver-renamed", outcome: { kind: "stopped" } };
}

/** Follows the driver of `options`; a name names its registration, a failure to learn it ends that. */
export function createDriverEvents(
  options: ResolvedRegistrarOptions,
  { log: parentLog, events, admit }: DriverEventsContext,
) {
  const log = parentLog.named("driver-events");
  let identity: PluginIdentity | undefined;
  let connected = false;
  let trouble: DriverTrouble | undefined;

  const follow = async (inbox: Inbox<LoopEvent>, signal: AbortSignal): Promise<void> => {
    const fail = (error: unknown) => {
      if (signal.aborted) return;
      log.error(error, "Cannot register the CSI driver");
      trouble = { kind: "failed", text: messageOf(error) };
      inbox.put({ kind: "stop", reason: "failed", outcome: failedBy(error) });
    };

    let admittedAs: string | undefined;
    const onNamed = async (name: string) => {
      const event = nameEvent(admittedAs, name, options.isNodeWide);
      if (event.kind === "stop") {
        const was = admittedAs;
        log.info("CSI driver came back under another name, starting over", { was, csiDriverName: name });
        return inbox.put(event);
      }
      await admit?.(name, log, (why) => {
        trouble = why;
      });
      trouble = undefined;
      admittedAs = name;
      inbox.put(event, signal);
    };

    const onAnswered: WatchDriverContext["onAnswered"] = (answer, awayMs) => {
      if (trouble?.kind === "no-answer") trouble = undefined;
      const before = identity;
      const { name, vendorVersion } = answer;
      if (before?.name !== name) admitDriverName(name, log);
      connected = true;
      identity = answer;
      events.emit({ kind: "driver-answered", identity: answer, awayMs });
      const isOtherVersion = before?.vendorVersion !== vendorVersion;
      if (before?.name !== name) {
        log.v(2).info("CSI driver name", { csiDriverName: name, vendorVersion });
        onNamed(name).catch(fail);
      } else if (options.reregisterOnDriverRestart && (awayMs !== undefined || isOtherVersion))
        inbox.put({ kind: "driver-restarted" });
      else if (isOtherVersion)
        log.info("CSI driver came back as another version, its registration stays as it is", {
          was: before.vendorVersion,
          vendorVersion,
        });
    };

    log.v(1).info("Attempting to open a gRPC connection", { csiAddress: options.csiAddress });
    await watchCsiDriver(options, {
      log,
      signal,
      onAnswered,
      onNoAnswer: (text) => {
        if (identity === undefined) trouble = { kind: "no-answer", text };
      },
      onLost: () => {
        connected = false;
        events.emit({ kind: "driver-lost" });
      },
      onCall: (call) => events.emit({ kind: "driver-call", call }),
    }).catch(fail);
  };

  return { follow, status: (): DriverHealth => ({ identity, connected, trouble }) };
}
