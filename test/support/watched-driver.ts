import { silentLogger } from "../../src/logging/logger";
import { createDriver } from "../../src/registrar/driver/driver";
import { createRegistrationEvents, type DriverCall } from "../../src/registrar/model/events";
import { createInbox } from "../../src/registrar/model/inbox";
import { resolveOptions } from "../../src/registrar/model/library-options";
import type { LoopEvent } from "../../src/registrar/model/state";
import { eventually } from "./eventually";
import { recordLog } from "./recorded-log";

const CALL_LIMIT_MS = 5_000;

/** Follows the driver at `socketPath` until it is disposed of, and keeps what happens to it. */
export function watchAt(
  socketPath: string,
  {
    isNodeWide = false,
    ...options
  }: { readonly timeoutMs?: number; readonly driverTimeoutMs?: number; readonly isNodeWide?: boolean } = {},
  { onAnswered = (): void => {}, create = createDriver } = {},
) {
  const log = recordLog();
  const stop = new AbortController();
  const answered: { readonly name: string; readonly awayMs: number | undefined }[] = [];
  const calls: DriverCall[] = [];
  let losses = 0;
  const events = createRegistrationEvents(silentLogger);
  events.subscribe("driver-answered", ({ identity: { name }, awayMs }) => {
    answered.push({ name, awayMs });
    onAnswered();
  });
  events.subscribe("driver-call", ({ call }) => calls.push(call));
  events.subscribe("driver-lost", () => {
    losses += 1;
  });
  const inbox = createInbox<LoopEvent>();
  const {
    signal: _,
    logger: __,
    ...resolved
  } = resolveOptions({
    csiAddress: socketPath,
    endpoint: "/host/csi.sock",
    timeoutMs: CALL_LIMIT_MS,
    ...options,
  });
  const driver = create({ ...resolved, isNodeWide }, { log: log.logger, events });
  const ended = driver.follow(inbox, stop.signal);
  return {
    log,
    ended,
    signal: stop.signal,
    answered,
    calls,
    losses: () => losses,
    status: driver.status,
    /** Resolves with what ended the registration. */
    failed: async () => {
      await ended;
      for (;;) {
        const event = await inbox.next();
        if (event.kind === "stop" && event.outcome.kind === "failed") return event.outcome.error;
      }
    },
    stop: () => stop.abort(),
    untilAnswered: (times = 1) => eventually(() => expect(answered).toHaveLength(times)),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await ended;
    },
  };
}
