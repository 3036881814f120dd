import { styleText } from "node:util";
import { pause } from "../../base/pause";
import { wrap } from "../../base/wrap";
import { durationText } from "../event-lines";
import type { Sign } from "./happenings";
import { MissedStep, type Stage } from "./stage";

const WIDTH = 110;
const INDENT = " ".repeat(3);
const HANGING = " ".repeat(15);

export type Play = ReturnType<typeof createPlay>;

/** What scenarios work with. MissedStep: a step did not happen `stepMs` after the latest deed, or an actor ended unasked. */
export function createPlay(stage: Stage, signal: AbortSignal, stepMs: number) {
  const { timeline } = stage;
  const interrupted = AbortSignal.any([signal, stage.mishap]);
  const startedAt = Date.now();
  let steps = 0;
  let deedAt = startedAt;
  let since = 0;
  let toldAt = startedAt;

  /** Reports of the same millisecond come in any order: no step gets an earlier time than the step before it. */
  const tellStep = (atMs: number, text: string) => {
    toldAt = Math.max(toldAt, atMs);
    steps += 1;
    tell(toldAt - startedAt, coloured("green", String(steps)), text);
  };

  return {
    ...stage,
    startedAt,
    chapter: (title: string, about: string) => {
      steps = 0;
      timeline.add({ role: "demo", kind: "chapter", text: title, atMs: Date.now() });
      say(`\n${coloured("bold", title)}\n${INDENT}${wrapped(about, INDENT)}\n`);
    },
    deed: async (text: string, act: () => void | Promise<void>) => {
      since = timeline.all.length;
      deedAt = Date.now();
      tell(deedAt - startedAt, coloured("yellow", "!"), text);
      timeline.add({ role: "demo", kind: "deed", text, atMs: deedAt });
      await act();
    },
    step: async (sign: Sign, text: string) => {
      const timeout = AbortSignal.timeout(stepMs);
      const limit = AbortSignal.any([interrupted, timeout]);
      const happening = await timeline.when(sign, since, limit).catch((error) => {
        if (error !== timeout.reason) throw error;
        throw new MissedStep(`did not happen within ${durationText(stepMs)}: ${text}`);
      });
      tellStep(happening.atMs, text);
      return happening;
    },
    /** Says that something did not happen for this long after the deed. */
    calm: async (forMs: number, sign: Sign, text: string) => {
      await pause(deedAt + forMs - Date.now(), interrupted);
      interrupted.throwIfAborted();
      if (timeline.find(sign, since) !== undefined) throw new MissedStep(`not true: ${text}`);
      tellStep(Date.now(), text);
    },
    show: async (object: object) => {
      const { stringify } = await import("yaml");
      say(`\n${stringify(object, { lineWidth: 0 }).trimEnd().replace(/^/gm, HANGING)}`);
    },
  };
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function complain(text: string): void {
  say(`${INDENT}${coloured("red", `✗  ${text}`)}`);
}

function tell(ms: number, sign: string, text: string): void {
  const time = `${(ms / 1000).toFixed(2).padStart(5)} s`;
  say(`${INDENT}${sign}  ${coloured("dim", time)}  ${wrapped(text, HANGING)}`);
}

/** Coloured for a terminal, unless NO_COLOR is set. */
const coloured = (style: Parameters<typeof styleText>[0], text: string) =>
  styleText(style, text, { stream: process.stdout });

/** Text in lines that fit, all but the first behind an indent. */
function wrapped(text: string, indent: string): string {
  const columns = Math.min(process.stdout.columns ?? WIDTH, WIDTH);
  return wrap(text, columns - indent.length).join(`\n${indent}`);
}
