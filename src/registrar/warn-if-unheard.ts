import type { Registration } from "./registration/registration";

/**
 * Makes the end of a registration for a reason of its own a warning of the process, unless the caller read `ready` or `closed`
 * before: a program that waits for neither would end with 0 and not a word.
 */
export function warnIfUnheard<Started extends Registration>(started: Started): Started {
  const { ready, closed } = started;
  let isHeard = false;
  closed
    .then((end) => {
      if (end.kind !== "stopped" && !isHeard) process.emitWarning(end.error);
    })
    .catch(() => {}); // It never rejects.
  const hearing = <Value>(value: Value) => ({
    enumerable: true,
    get: () => {
      isHeard = true;
      return value;
    },
  });
  return Object.defineProperties(started, { ready: hearing(ready), closed: hearing(closed) });
}
