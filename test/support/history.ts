/** Longer than anything takes on a busy machine, shorter than a test may take. Never part of what is tested. */
export const PATIENCE_MS = 60_000;

export type History<T> = ReturnType<typeof createHistory<T>>;

/** Keeps values in the order in which they came; `name` is its name in the error of a wait that failed. */
export function createHistory<T>(name: string) {
  const values: T[] = [];
  const watchers = new Set<() => void>();
  let ended: string | undefined;

  const notify = () => {
    for (const watcher of [...watchers]) watcher();
  };

  return {
    all: (): readonly T[] => values,
    add: (value: T): void => {
      values.push(value);
      notify();
    },
    /** Calls `listener` with each value: first with those that came already, at once. */
    follow: (listener: (value: T) => void): void => {
      let position = 0;
      const look = () => {
        while (position < values.length) listener(values[position++] as T);
      };
      watchers.add(look);
      look();
    },
    end: (reason: string): void => {
      ended = reason;
      notify();
    },
    /** The first value that matches, from position `from` on. Rejects with the last values in the message. */
    waitFor: (matches: (value: T) => boolean, from = 0): Promise<T> =>
      new Promise((resolve, reject) => {
        let position = from;
        const timer = setTimeout(
          () => giveUp(`it did not come within ${PATIENCE_MS / 1_000} s`),
          PATIENCE_MS,
        );
        timer.unref(); // A test that ended must not keep its process.
        const stop = () => {
          clearTimeout(timer);
          watchers.delete(look);
        };
        const giveUp = (reason: string) => {
          stop();
          const last = values
            .slice(-20)
            .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
            .join("\n");
          reject(new Error(`Waiting in vain on ${name} for ${matches}: ${reason}. The last of it:\n${last}`));
        };
        const look = () => {
          for (; position < values.length; position++) {
            const value = values[position] as T;
            if (!matches(value)) continue;
            stop();
            resolve(value);
            return;
          }
          if (ended !== undefined) giveUp(ended);
        };
        watchers.add(look);
        look();
      }),
  };
}
