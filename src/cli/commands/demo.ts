import { choiceFlag, switchFlag, textFlag } from "../command-flags";
import { createCommand } from "../command-line";
import { durationText } from "../event-lines";
import { untilInterrupted } from "./demo/interruption";
import { perform } from "./demo/perform";
import { SCENARIOS } from "./demo/scenarios";
import { createStoryteller, detectScreen } from "./demo/storyteller";

const EXIT_MISSED = 1;
/** What a shell says of a program that SIGINT ended. */
const EXIT_INTERRUPTED = 130;

/** Plays registrations with real processes and tells them step by step; resolves with the exit code. */
export const runDemo = createCommand(
  {
    name: "demo",
    describe:
      "Plays registrations and tells them step by step: this registrar, a simulated CSI driver and a simulated " +
      "kubelet, each a process of its own, on real sockets in a temporary folder. Ends by itself within 15 s.",
    flags: {
      scenario: choiceFlag(
        "play this one only",
        SCENARIOS.map(({ name }) => name),
      ),
      list: switchFlag("list the scenarios and play none"),
      keep: switchFlag("leave the folder, with what each process said in a .log file"),
      svg: textFlag("save a picture of what happened in this file"),
      registrar: textFlag("program of another registrar to play with, such as the official one's"),
    },
    examples: ["demo", "demo --scenario second-registrar --svg takeover.svg"],
    notes: ["Exit codes: 0 all happened as told; 1 a step did not happen; 2 bad flag; 130 interrupted."],
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
    const ending = await perform(chosen, {
      cli,
      registrar: registrar === undefined ? cli : [registrar],
      keep,
      svg,
      teller,
      signal,
    });
    switch (ending.kind) {
      case "told":
        teller.say(`\nAll of it happened as told, in ${durationText(ending.tookMs)}.`);
        return 0;
      case "missed":
        return EXIT_MISSED;
      case "interrupted":
        return EXIT_INTERRUPTED;
    }
  },
);
