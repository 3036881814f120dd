/** Wakes one waiting loop. A call that comes while nobody waits counts for the next wait. */
export interface WakeUp {
  call(): void;
  /** Resolves at the next call, after `limitMs`, or when `signal` is aborted. Never rejects. */
  wait(signal: AbortSignal, limitMs?: number): Promise<void>;
}

/** Nothing waits longer in one timer of Node's. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Makes a wake-up that nobody has called. */
export function createWakeUp(): WakeUp {
  let called = false;
  let wake = () => {};
  return {
    call: () => {
      called = true;
      wake();
    },
    wait: async (signal, limitMs = MAX_TIMER_MS) => {
      if (!called && !signal.aborted) {
        let timer: NodeJS.Timeout | undefined;
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, Math.min(limitMs, MAX_TIMER_MS));
        });
        signal.addEventListener("abort", wake);
        await woken;
        signal.removeEventListener("abort", wake);
        clearTimeout(timer);
        wake = () => {};
      }
      called = false;
    },
  };
}
