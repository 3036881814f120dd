import { setTimeout as delay } from "node:timers/promises";
import { durationText } from "../../event-lines";
import type { Look } from "./happenings";
import type { Play } from "./scenario";
import { MissedStep, type Stage } from "./stage";
import type { Storyteller } from "./storyteller";
import type { Seen } from "./timeline";

/** How long a step may take. A registration takes a second or two; this is for a busy machine. */
const STEP_MS = 10_000;

export interface PlayOptions {
  readonly stage: Stage;
  readonly teller: Storyteller;
  /** When the demo began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** How long a step may take. @default 10 s */
  readonly stepMs?: number | undefined;
  /** Ends the play when aborted. */
  readonly signal: AbortSignal;
}

/** Makes what one scenario works with. */
export function createPlay({ stage, teller, startedAt, stepMs = STEP_MS, signal }: PlayOptions): Play {
  const { timeline } = stage;
  let steps = 0;
  let deedAt = Date.now();
  let since = timeline.now();
  /** The time of the latest step written. */
  let toldMs = 0;

  const within = (awaited: string) => {
    const tooLate = new MissedStep(`waited ${durationText(stepMs)} for ${awaited}: it did not happen`);
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(tooLate), stepMs);
    return {
      signal: AbortSignal.any([signal, stage.mishap, timeout.signal]),
      end: () => clearTimeout(timer),
    };
  };

  const see = async <Found>(awaited: string, look: Look<Found>): Promise<Seen<Found>> => {
    const bound = within(awaited);
    const stopWaiting = teller.waitFor(awaited);
    try {
      return await timeline.when(look, since, bound.signal);
    } finally {
      stopWaiting();
      bound.end();
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
    deed: async (text, act) => {
      since = timeline.now();
      deedAt = Date.now();
      teller.deed(deedAt - startedAt, text);
      timeline.add({ kind: "deed", text, atMs: deedAt });
      await act();
    },
    step: async (awaited, look, says) => {
      const { found, atMs } = await see(awaited, look);
      tellStep(atMs, says(found, Math.max(0, atMs - deedAt)));
      return found;
    },
    expect: async (awaited, look) => (await see(awaited, look)).found,
    calm: async (forMs, look, says) => {
      await delay(Math.max(0, deedAt + forMs - Date.now()), undefined, {
        signal: AbortSignal.any([signal, stage.mishap]),
      }).catch(() => {});
      signal.throwIfAborted();
      stage.mishap.throwIfAborted();
      if (timeline.find(look, since) !== undefined) throw new MissedStep(`this is not true: ${says}`);
      tellStep(Date.now(), says);
    },
    show: async (object) => {
      const { stringify } = await import("yaml");
      teller.quote(stringify(object, { lineWidth: 0 }));
    },
  };
}
