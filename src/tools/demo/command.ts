import { choiceFlag } from "../../flags/kinds";
import { listenOnly } from "../../runtime/signals";
import { createCommand } from "../command-line";
import { type Play, startPlay } from "./play";
import { notified, SCENARIOS } from "./scenarios";

/** A registration takes a second or two; this is for a busy machine. */
const STEP_MS = 10_000;

export const runDemo = createCommand(
  {
    name: "demo",
    describe:
      "Plays registrations with real processes and explains each step: this registrar, a simulated CSI driver and a " +
      "simulated kubelet, on real sockets in a temporary directory. It ends by itself within 30 s.",
    flags: { scenario: choiceFlag("play this one only", Object.keys(SCENARIOS)) },
    examples: ["demo", "demo --scenario second-registrar"],
    notes: ["Exit codes: 0 every step happened; 1 a step did not happen; 2 bad flag; 130 interrupted."],
  },
  ({ scenario }) => {
    const interrupted = new AbortController();
    // A second signal changes nothing: the actors must be stopped first, which takes seconds.
    const interrupt = () => interrupted.abort();
    for (const name of ["SIGINT", "SIGTERM", "SIGQUIT", "SIGHUP"] as const) listenOnly(name, interrupt);
    process.stdout.on("error", interrupt);
    const cli = [process.execPath, ...process.argv.slice(1, 2)];
    return perform(startPlay(cli, interrupted.signal, STEP_MS), interrupted.signal, scenario);
  },
);

/** Plays all scenarios, or one; resolves with the exit code. Then no process and no file is left. */
export async function perform(play: Play, signal: AbortSignal, chosen?: string): Promise<number> {
  try {
    for (const [name, scenario] of Object.entries(SCENARIOS)) {
      if (chosen !== undefined && name !== chosen) continue;
      play.chapter(scenario.title, scenario.about);
      const isFirst = name === (chosen ?? "registration");
      if (isFirst) await play.deed("The demo starts a kubelet, a CSI driver and a registrar.", play.startAll);
      if (isFirst && name !== "registration") await play.step(notified, "The driver is registered.");
      await scenario.play(play);
    }
    play.finish();
    return 0;
  } catch (error) {
    if (signal.aborted) return 130; // A shell's code for a program that SIGINT ended.
    throw error;
  } finally {
    await play.clear();
  }
}
