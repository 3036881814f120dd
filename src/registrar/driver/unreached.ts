import { BACKOFF, backoffMs, REMINDERS, reminderMs } from "../../base/backoff";
import type { Logger } from "../../logging/logger";
import { explainConnectError } from "../../unix/unix-socket";
import type { ResolvedRegistrarOptions } from "../model/options";

/** Makes what says now and then that no connection is made, and why. */
export function createUnreached({ isNodeWide }: ResolvedRegistrarOptions, log: Logger) {
  const reminders = isNodeWide ? REMINDERS.connectNodeWide : REMINDERS.connect;
  let why: Error | undefined;
  let [sinceMs, tries, lines, lineAtMs] = [0, 0, 0, 0];
  return {
    why: () => why,
    because: (problem: Error, isHinted: boolean): number => {
      const nowMs = performance.now();
      if (why === undefined)
        [sinceMs, tries, lines, lineAtMs] = [nowMs, 0, 0, nowMs + reminderMs(reminders, 0)];
      why = problem;
      if (isHinted) tries = 0;
      if (nowMs >= lineAtMs) {
        const waited = `${Math.round((nowMs - sinceMs) / 1000)}s`;
        log.info("Still connecting", { waited, lastError: explainConnectError(problem) });
        lineAtMs = nowMs + reminderMs(reminders, ++lines);
      }
      return Math.min(backoffMs(BACKOFF.connect, tries++), lineAtMs - nowMs);
    },
    end: (): void => {
      why = undefined;
    },
  };
}
