import { setTimeout as delay } from "node:timers/promises";

/**
 * Repeats `attempt` until it does not throw. Once `limitMs` (60 s) have passed it rejects with the last error; `what` is what
 * it waited for.
 */
export async function until<Value>(
  attempt: () => Value | Promise<Value>,
  {
    what,
    limitMs = 60_000,
    everyMs = 100,
  }: { readonly what: string; readonly limitMs?: number; readonly everyMs?: number },
): Promise<Value> {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (cause) {
      if (performance.now() > giveUpAt) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`${what}: not within ${limitMs / 1000} s: ${reason}`, { cause });
      }
      await delay(everyMs);
    }
  }
}
