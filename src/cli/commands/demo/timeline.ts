import { EventEmitter, once } from "node:events";
import type { Happening, Look } from "./happenings";

/** Everything that happened, in the order in which it was reported to the demo. */
export function createTimeline() {
  const happenings: Happening[] = [];
  const news = new EventEmitter();

  /** What the first happening that fits shows, from a place on, and when it happened; undefined: none so far. */
  const find = <Found>(look: Look<Found>, since: number) => {
    for (const happening of happenings.slice(since)) {
      const found = look(happening);
      if (found !== undefined) return { found, atMs: happening.atMs };
    }
    return undefined;
  };

  return {
    find,
    all: (): readonly Happening[] => happenings,
    /** The place behind the latest happening. */
    now: () => happenings.length,
    add: (happening: Happening) => {
      happenings.push(happening);
      news.emit("added");
    },
    /** Waits for what `find` finds. Rejects with the signal's reason when that is aborted first. */
    when: async <Found>(look: Look<Found>, since: number, signal: AbortSignal) => {
      for (;;) {
        const seen = find(look, since);
        if (seen !== undefined) return seen;
        signal.throwIfAborted();
        await once(news, "added", { signal }).catch(() => {});
      }
    },
  };
}
