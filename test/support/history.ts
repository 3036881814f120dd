/** Longer than anything takes on a busy machine, shorter than a test may take. Never part of what is tested. */
export const PATIENCE_MS = 60_000;

/** Values in the order in which they came, and a way to wait for one that did or will come. */
export interface History<T> {
  readonly all: () => readonly T[];
  readonly add: (value: T) => void;
  /** Calls `listener` with each value: first with those that came already, at once. */
  readonly follow: (listener: (value: T) => void) => void;
  /** No more values come; who still waits is told why. */
  readonly end: (reason: string) => void;
  /**
   * The first value that matches, from position `from` on. Rejects when none came in time or before the end, with the
   * last values in the message.
   */
  readonly waitFor: (matches: (value: T) => boolean, from?: number) => Promise<T>;
}

/** A {@link History} that calls itself `name` when a wait was in vain. */
export function createHistory<T>(name: string): History<T> {
  const values: T[] = [];
  const watchers = new Set<() => void>();
  const followers: ((value: T) => void)[] = [];
  let ended: string | undefined;

  function notify(): void {
    for (const watcher of [...watchers]) watcher();
  }

  async function waitFor(matches: (value: T) => boolean, from = 0): Promise<T> {
    return new Promise((resolve, reject) => {
      let position = from;
      const timer = setTimeout(() => giveUp(`it did not come within ${PATIENCE_MS / 1_000} s`), PATIENCE_MS);
      timer.unref(); // A wait that nobody minds any more keeps no process.
      function stop(): void {
        clearTimeout(timer);
        watchers.delete(look);
      }
      function giveUp(reason: string): void {
        stop();
        const last = values
          .slice(-20)
          .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
          .join("\n");
        reject(new Error(`Waiting in vain on ${name} for ${matches}: ${reason}. The last of it:\n${last}`));
      }
      function look(): void {
        for (; position < values.length; position++) {
          const value = values[position] as T;
          if (!matches(value)) continue;
          stop();
          resolve(value);
          return;
        }
        if (ended !== undefined) giveUp(ended);
      }
      watchers.add(look);
      look();
    });
  }

  return {
    all: () => values,
    add: (value) => {
      values.push(value);
      for (const listener of followers) listener(value);
      notify();
    },
    follow: (listener) => {
      values.forEach((value) => {
        listener(value);
      });
      followers.push(listener);
    },
    end: (reason) => {
      ended = reason;
      notify();
    },
    waitFor,
  };
}
