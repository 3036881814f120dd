import type { PluginIdentity } from "../../src/grpc/protos";
import { watchCsiDriver } from "../../src/registrar/driver/watch-driver";
import type { DriverCall } from "../../src/registrar/model/events";
import { eventually } from "./eventually";
import { recordLog } from "./recorded-log";

const CALL_LIMIT_MS = 5_000;

/** Watches the driver at `socketPath` until it is disposed of, and keeps what it is told. */
export function watchAt(
  socketPath: string,
  options: Partial<Parameters<typeof watchCsiDriver>[0]> = {},
  { onAnswered = (_name: string): void => {}, watch = watchCsiDriver } = {},
) {
  const log = recordLog();
  const stop = new AbortController();
  const answered: { readonly name: string; readonly awayMs: number | undefined }[] = [];
  const calls: DriverCall[] = [];
  let losses = 0;
  const ended = watch(
    {
      csiSocketPath: socketPath,
      timeoutMs: CALL_LIMIT_MS,
      driverTimeoutMs: 0,
      isNodeWide: false,
      ...options,
    },
    {
      log: log.logger,
      signal: stop.signal,
      onNoAnswer: () => {},
      onAnswered: ({ name }: PluginIdentity, awayMs) => {
        answered.push({ name, awayMs });
        onAnswered(name);
      },
      onLost: () => {
        losses += 1;
      },
      onCall: (call) => calls.push(call),
    },
  );
  ended.catch(() => {});
  return {
    log,
    ended,
    signal: stop.signal,
    answered,
    calls,
    losses: () => losses,
    stop: () => stop.abort(),
    untilAnswered: (times = 1) => eventually(() => expect(answered).toHaveLength(times)),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await ended.catch(() => {});
    },
  };
}
