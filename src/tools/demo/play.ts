import { basename, relative } from "node:path";
import { styleText } from "node:util";
import { RegistrarError } from "../../base/errors";
import { monotonicMs } from "../../base/pause";
import { wrap } from "../wrap";
import { type Sign, startStage } from "./stage";

const WIDTH = 110;
const INDENT = " ".repeat(3);
const HANGING = " ".repeat(15);
/** Longer than a round of kubelet's loop, so kubelet has had the time to deregister the driver. */
const CALM_MS = 1_100;

export type Play = ReturnType<typeof startPlay>;

/** What scenarios work with. They end with TIMEOUT if a step does not happen within `stepMs`, as `startStage` says, or by the signal. */
export function startPlay(cli: readonly string[], signal: AbortSignal, stepMs: number) {
  const stage = startStage(cli, signal);
  const startedAt = monotonicMs();
  const seconds = () => ((monotonicMs() - startedAt) / 1000).toFixed(2);
  let steps = 0;

  const tell = (mark: string, text: string) => {
    say(`${INDENT}${mark}  ${coloured("dim", `${seconds().padStart(5)} s`)}  ${wrapped(text, HANGING)}`);
  };
  const tellStep = (text: string) => {
    steps += 1;
    tell(coloured("green", String(steps)), text);
  };

  const cast = "This registrar, a simulated CSI driver and a simulated kubelet";
  say(wrapped(`${cast}, as processes with real sockets in ${stage.directory}`, ""));
  say(
    wrapped("! marks what the demo does; numbered lines say what follows, and after how many seconds.", ""),
  );
  return {
    ...stage,
    chapter: (title: string, about: string) => {
      steps = 0;
      say(`\n${coloured("bold", title)}\n${INDENT}${wrapped(about, INDENT)}\n`);
    },
    deed: async (text: string, act: () => void | Promise<void>) => {
      stage.forget();
      tell(coloured("yellow", "!"), text);
      await act();
    },
    /** Waits for what follows from the latest deed. */
    step: async (sign: Sign, text: string | ((report: Sign) => string)) => {
      const report = await stage.when(sign, stepMs);
      const awaited = typeof text === "string" ? text : JSON.stringify(sign);
      const missed = `did not happen within ${stepMs / 1000} s: ${awaited} ${stage.lastLineOf(sign.role)}`;
      if (report === undefined) throw new RegistrarError("TIMEOUT", missed);
      tellStep(typeof text === "string" ? text : text(report));
      return report;
    },
    note: (...texts: readonly string[]) => {
      for (const text of texts) say(`${HANGING}${wrapped(text, HANGING)}`);
    },
    /** Says what did not happen since the latest deed. */
    calm: async (sign: Sign, text: string) => {
      if (await stage.when(sign, CALM_MS)) throw new RegistrarError("TIMEOUT", `not true: ${text}`);
      tellStep(text);
    },
    finish: () => {
      say(`\nEverything happened as described, in ${seconds()} s.`);
      say(`One story again: ${calledAs(cli)} demo --scenario refused`);
      say(`Next: ${calledAs(cli)} doctor -f your-daemonset.yaml`);
    },
  };
}

/** What a shell runs to start this program: in a clone its file, which has no command of that name. */
function calledAs([, program = "registrar"]: readonly string[]): string {
  return program.endsWith(".js") ? `node ${relative("", program)}` : basename(program);
}

const say = (text: string) => void process.stdout.write(`${text}\n`);

/** Coloured for a terminal, unless NO_COLOR is set. */
const coloured = (style: Parameters<typeof styleText>[0], text: string) =>
  styleText(style, text, { stream: process.stdout });

/** Text in lines that fit, all but the first behind an indent. */
function wrapped(text: string, indent: string): string {
  const columns = Math.min(process.stdout.columns ?? WIDTH, WIDTH);
  return wrap(text, columns - indent.length).join(`\n${indent}`);
}
