import { choiceFlag, switchFlag, textFlag } from "../../flags/kinds";
import { createCommand } from "../command-line";
import { listenOnly } from "../process/signals";
import { perform } from "./demo/perform";
import { SCENARIOS } from "./demo/scenarios";
import { createStoryteller, detectScreen } from "./demo/storyteller";
import { durationText } from "./event-lines";

/** 130 is a shell's code for a program that SIGINT ended. */
const EXIT_CODES = { told: 0, missed: 1, interrupted: 130 } as const;

export const runDemo = createCommand(
  {
    name: "demo",
    describe:
      "Plays registrations with real processes and explains each step: this registrar, a simulated CSI driver and a " +
      "simulated kubelet, on real sockets in a temporary folder. It ends by itself within 15 s.",
    flags: {
      scenario: choiceFlag(
        "play this one only",
        SCENARIOS.map(({ name }) => name),
      ),
      list: switchFlag("list the scenarios and play none"),
      keep: switchFlag("keep the folder, with the output of each process in a .log file"),
      svg: textFlag("save a picture of the demo in this file"),
      registrar: textFlag("play with another registrar's program, such as the official one"),
    },
    examples: ["demo", "demo --scenario second-registrar --svg takeover.svg"],
    notes: ["Exit codes: 0 every step happened; 1 a step did not happen; 2 bad flag; 130 interrupted."],
  },
  async ({ scenario, list, keep = false, svg, registrar }) => {
    const teller = createStoryteller(detectScreen(process.stdout, process.env));
    if (list) {
      for (const { name, title } of SCENARIOS) teller.say(`${name.padEnd(18)}${title}`);
      return 0;
    }
    const chosen = SCENARIOS.filter(({ name }) => scenario === undefined || name === scenario);
    const cli = [process.execPath, ...process.argv.slice(1, 2)];
    const signal = untilInterrupted();
    const programs = { cli, registrar: registrar === undefined ? cli : [registrar] };
    const played = await perform(chosen, { ...programs, keep, svg, teller, signal });
    if (played.ending === "told")
      teller.say(`\nEverything happened as described, in ${durationText(played.tookMs)}.`);
    return EXIT_CODES[played.ending];
  },
);

/** A second signal changes nothing: the actors must be stopped first, which takes seconds. */
function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  for (const name of ["SIGINT", "SIGTERM", "SIGQUIT", "SIGHUP"] as const) listenOnly(name, interrupt);
  process.stdout.on("error", interrupt);
  return controller.signal;
}
