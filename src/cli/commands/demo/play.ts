import { pause } from "../../../base/pause";
import { durationText } from "../event-lines";
import type { Look } from "./happenings";
import { type DemoOptions, MissedStep, type Stage } from "./stage";

export type Play = ReturnType<typeof createPlay>;

/** What a scenario works with. MissedStep: a step did not happen `stepMs` after the latest deed, or an actor ended unasked. */
export function createPlay(stage: Stage, startedAt: number, options: DemoOptions) {
  const { teller, stepMs = 10_000, signal } = options;
  const { timeline } = stage;
  const interrupted = AbortSignal.any([signal, stage.mishap]);
  let steps = 0;
  let deedAt = Date.now();
  let since = timeline.now();
  let toldMs = 0;

  const see = async <Found>(awaited: string, look: Look<Found>) => {
    const timeout = AbortSignal.timeout(stepMs);
    const stopWaiting = teller.waitFor(awaited);
    try {
      return await timeline.when(look, since, AbortSignal.any([interrupted, timeout]));
    } catch (error) {
      if (error !== timeout.reason) throw error;
      throw new MissedStep(`waited ${durationText(stepMs)} for ${awaited}: it did not happen`);
    } finally {
      stopWaiting();
    }
  };

  /** Reports of the same millisecond come in any order: no step gets an earlier time than the step before it. */
  const tellStep = (atMs: number, text: string) => {
    toldMs = Math.max(toldMs, atMs - startedAt);
    steps += 1;
    teller.step(steps, toldMs, text);
  };

  return {
    ...stage,
    deed: async (text: string, act: () => void | Promise<void>) => {
      since = timeline.now();
      deedAt = Date.now();
      teller.deed(deedAt - startedAt, text);
      timeline.add({ kind: "deed", text, atMs: deedAt });
      await act();
    },
    /** Waits until it happens, then writes a text, which may use what was found and the milliseconds since the deed. */
    step: async <Found>(
      awaited: string,
      look: Look<Found>,
      says: string | ((found: Found, sinceDeedMs: number) => string),
    ): Promise<Found> => {
      const { found, atMs } = await see(awaited, look);
      tellStep(atMs, typeof says === "string" ? says : says(found, Math.max(0, atMs - deedAt)));
      return found;
    },
    /** Waits until it happens and writes nothing: it is part of the next step. */
    expect: async <Found>(awaited: string, look: Look<Found>): Promise<Found> =>
      (await see(awaited, look)).found,
    /** Writes that something did not happen for this long after the deed. */
    calm: async (forMs: number, look: Look<unknown>, says: string) => {
      await pause(deedAt + forMs - Date.now(), interrupted);
      interrupted.throwIfAborted();
      if (timeline.find(look, since) !== undefined) throw new MissedStep(`it happened all the same: ${says}`);
      tellStep(Date.now(), says);
    },
    show: async (object: object) => {
      const { stringify } = await import("yaml");
      teller.quote(stringify(object, { lineWidth: 0 }));
    },
  };
}
