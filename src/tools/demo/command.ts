import { writeFileSync } from "node:fs";
import { invalidOption, messageOf } from "../../base/errors";
import { choiceFlag, switchFlag, textFlag } from "../../flags/kinds";
import { listenOnly } from "../../runtime/signals";
import { createCommand } from "../command-line";
import { durationText } from "../event-lines";
import { renderSvg, sequenceOf } from "./picture";
import { complain, createPlay, say } from "./play";
import { beginRegistered, registration, SCENARIOS, type Scenario } from "./scenarios";
import { MissedStep, type Programs, startStage } from "./stage";

const NAMES = SCENARIOS.map(({ name }) => name);
const EXIT_MISSED = 1;
/** A shell's code for a program that SIGINT ended. */
const EXIT_INTERRUPTED = 130;

export const runDemo = createCommand(
  {
    name: "demo",
    describe:
      "Plays registrations with real processes and explains each step: this registrar, a simulated CSI driver and a " +
      "simulated kubelet, on real sockets in a temporary directory. It ends by itself within 15 s.",
    flags: {
      scenario: choiceFlag("play this one only", NAMES),
      list: switchFlag("list the scenarios and play none"),
      keep: switchFlag("keep the directory, with the output of each process in a .log file"),
      svg: textFlag("save a picture of the demo in this file"),
      registrar: textFlag("play with another registrar's program, such as the official one"),
    },
    examples: ["demo", "demo --scenario second-registrar --svg takeover.svg"],
    notes: ["Exit codes: 0 every step happened; 1 a step did not happen; 2 bad flag; 130 interrupted."],
  },
  async ({ scenario, list, keep, svg, registrar }) => {
    if (list) {
      for (const { name, title } of SCENARIOS) say(`${name.padEnd(18)}${title}`);
      return 0;
    }
    const chosen = SCENARIOS.filter(({ name }) => scenario === undefined || name === scenario);
    const cli = [process.execPath, ...process.argv.slice(1, 2)];
    const programs = { cli, registrar: registrar === undefined ? cli : [registrar] };
    return await perform(chosen, programs, { keep, svg, signal: untilInterrupted() });
  },
);

interface DemoOptions {
  readonly keep?: boolean | undefined;
  readonly svg?: string | undefined;
  /** How long a step may take. A registration takes a second or two; the default of 10 s is for a busy machine. */
  readonly stepMs?: number;
  readonly signal: AbortSignal;
}

/** Plays scenarios on one stage; resolves with the exit code. It leaves no process and, unless kept, no file. */
export async function perform(
  scenarios: readonly Scenario[],
  programs: Programs,
  { keep = false, svg, stepMs = 10_000, signal }: DemoOptions,
): Promise<number> {
  // Checked before anything is played, so that a path that cannot be written fails at once.
  if (svg !== undefined) save(svg, "");
  const stage = startStage(programs, keep);
  const { directory, timeline } = stage;
  const play = createPlay(stage, signal, stepMs);
  say(`The registrar, a simulated CSI driver and a simulated kubelet, on real sockets in ${directory}`);
  try {
    for (const [index, scenario] of scenarios.entries()) {
      play.chapter(scenario.title, scenario.about);
      if (index === 0 && scenario !== registration) await beginRegistered(play);
      await scenario.play(play);
    }
    say(`\nEverything happened as described, in ${durationText(Date.now() - play.startedAt)}.`);
    return 0;
  } catch (error) {
    if (signal.aborted) return EXIT_INTERRUPTED;
    if (!(error instanceof MissedStep)) throw error;
    complain(error.message);
    return EXIT_MISSED;
  } finally {
    const text = "The demo is over and stops every process.";
    timeline.add({ role: "demo", kind: "deed", text, atMs: Date.now() });
    await stage.clear();
    if (keep) say(`\nKept: ${directory}; its .log files have the output of each process.`);
    if (svg !== undefined) save(svg, renderSvg(sequenceOf(timeline.all, play.startedAt)));
  }
}

function save(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (cause) {
    throw invalidOption(`cannot write the picture: ${messageOf(cause)}`, { cause });
  }
}

/** A second signal changes nothing: the actors must be stopped first, which takes seconds. */
function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  for (const name of ["SIGINT", "SIGTERM", "SIGQUIT", "SIGHUP"] as const) listenOnly(name, interrupt);
  process.stdout.on("error", interrupt);
  return controller.signal;
}
