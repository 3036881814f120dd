/** Wakes whoever waits for something to happen. */
export interface Bell {
  ring(): void;
  /** Resolves at the next ring, and after `netMs` at the latest. */
  next(netMs: number): Promise<void>;
}

export function createBell(): Bell {
  let waiting: (() => void)[] = [];
  return {
    ring: () => {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    next: (netMs) =>
      new Promise((resolve) => {
        const net = setTimeout(resolve, netMs);
        waiting.push(() => {
          clearTimeout(net);
          resolve();
        });
      }),
  };
}
