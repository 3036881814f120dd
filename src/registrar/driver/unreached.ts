import { BACKOFF, backoffMs, REMINDERS, reminderMs } from "../../base/backoff";
import { type Logger, UNHEARD } from "../../logging/logger";
import { explainConnectError } from "../../unix/unix-socket";
import type { ResolvedRegistrarOptions } from "../model/options";

/** From then on it is a warning, which needs no logger: `csiAddress` may be wrong. Dead sockets of a node are nothing special. */
export const WARN_AFTER_MS = 30_000;

const STILL_CONNECTING = "Still connecting";

/** Makes what says now and then that no connection is made, and why. */
export function createUnreached({ isNodeWide }: ResolvedRegistrarOptions, log: Logger) {
  const reminders = isNodeWide ? REMINDERS.connectNodeWide : REMINDERS.connect;
  let why: Error | undefined;
  let [sinceMs, tries, lines, lineAtMs] = [0, 0, 0, 0];
  return {
    why: () => why,
    because: (problem: Error): number => {
      const nowMs = performance.now();
      if (why === undefined)
        [sinceMs, tries, lines, lineAtMs] = [nowMs, 0, 0, nowMs + reminderMs(reminders, 0)];
      why = problem;
      if (nowMs >= lineAtMs) {
        const waitedS = Math.round((nowMs - sinceMs) / 1000);
        const fields = { waited: `${waitedS}s`, lastError: explainConnectError(problem) };
        if (waitedS * 1000 < WARN_AFTER_MS || isNodeWide) log.info(STILL_CONNECTING, fields);
        else log.warn(STILL_CONNECTING, { ...fields, ...UNHEARD });
        lineAtMs = nowMs + reminderMs(reminders, ++lines);
      }
      return Math.min(backoffMs(BACKOFF.connect, tries++), lineAtMs - nowMs);
    },
    /** A server may be about to listen. */
    hinted: (): void => {
      tries = 0;
    },
    end: (): void => {
      why = undefined;
    },
  };
}
