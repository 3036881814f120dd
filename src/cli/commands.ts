import type { CommandSummary } from "./help";

/** A command of ours beside the drop-in default. */
export interface Command extends CommandSummary {
  /** Runs with the words behind the command's name; resolves with the exit code. */
  run(argv: readonly string[]): Promise<number>;
}

/** What a first word may be other than a flag. Each is loaded only when it is asked for. */
export const COMMANDS: readonly Command[] = [
  {
    name: "demo",
    summary: "watch one registration happen: sample driver, registrar, simulated kubelet",
    run: async (argv) => (await import("./commands/demo")).runDemo(argv),
  },
];
