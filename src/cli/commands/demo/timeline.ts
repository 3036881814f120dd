import type { Happening, Look } from "./happenings";

/** What was looked for, and when it happened. */
export interface Seen<Found> {
  readonly found: Found;
  readonly atMs: number;
}

/** Everything that happened, in the order in which it was reported to the demo. */
export interface Timeline {
  add(happening: Happening): void;
  all(): readonly Happening[];
  /** The current place in the timeline: what happens from now on comes after it. */
  now(): number;
  /** The first such happening after a place; undefined where there is none yet. */
  find<Found>(look: Look<Found>, since: number): Seen<Found> | undefined;
  /** The same, waited for. Rejects with the signal's reason when that is aborted first. */
  when<Found>(look: Look<Found>, since: number, signal: AbortSignal): Promise<Seen<Found>>;
}

export function createTimeline(): Timeline {
  const happenings: Happening[] = [];
  const listeners = new Set<() => void>();

  const find: Timeline["find"] = (look, since) => {
    for (const happening of happenings.slice(since)) {
      const found = look(happening);
      if (found !== undefined) return { found, atMs: happening.atMs };
    }
    return undefined;
  };

  return {
    add: (happening) => {
      happenings.push(happening);
      for (const listener of [...listeners]) listener();
    },
    all: () => happenings,
    now: () => happenings.length,
    find,
    when: (look, since, signal) =>
      new Promise((resolve, reject) => {
        const settle = () => {
          const seen = find(look, since);
          if (seen === undefined && !signal.aborted) return;
          listeners.delete(settle);
          signal.removeEventListener("abort", settle);
          if (seen === undefined) reject(signal.reason);
          else resolve(seen);
        };
        listeners.add(settle);
        signal.addEventListener("abort", settle, { once: true });
        settle();
      }),
  };
}
