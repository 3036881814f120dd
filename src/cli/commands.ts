import type { CommandSummary } from "./help";
import { nearWord } from "./near-word";

/** A command of ours beside the drop-in default. */
export interface Command extends CommandSummary {
  /** Runs with the words behind the command's name; resolves with the exit code. */
  run(argv: readonly string[]): Promise<number>;
}

/** What a first word may be other than a flag. Each is loaded only when it is asked for. */
export const COMMANDS: readonly Command[] = [
  {
    name: "demo",
    summary: "watch registrations happen: a driver, registrars, a kubelet",
    run: async (argv) => (await import("./commands/demo")).runDemo(argv),
  },
  {
    name: "kubelet",
    summary: "simulate kubelet's side: see, break and test a registration",
    run: async (argv) => (await import("./commands/kubelet")).runKubelet(argv),
  },
  {
    name: "driver",
    summary: "simulate a CSI driver",
    run: async (argv) => (await import("./commands/driver")).runDriver(argv),
  },
  {
    name: "doctor",
    summary: "tell why a driver is not registered; changes nothing",
    run: async (argv) => (await import("./commands/doctor")).runDoctor(argv),
  },
  {
    name: "manifest",
    summary: "write the YAML that deploys a driver with this registrar",
    run: async (argv) => (await import("./commands/manifest")).runManifest(argv),
  },
];

/**
 * What to tell somebody whose first word is nearly a command of ours; undefined for every other first word, which is
 * for Go's grammar: there it ends the flags and is ignored, as are the flags behind it.
 *
 * That a near miss ends us with a usage error takes nothing from a drop-in user. At the official registrar a line that
 * starts with a plain word sets no flag, so the required --kubelet-registration-path is missing, and it always fails.
 */
export function correctCommand(firstWord: string | undefined): string | undefined {
  if (firstWord === undefined || firstWord.startsWith("-")) return undefined;
  const near = nearWord(
    firstWord,
    COMMANDS.map(({ name }) => name),
  );
  return near === undefined ? undefined : `there is no command "${firstWord}"; did you mean "${near}"?`;
}
