import type { CommandSummary } from "./help";
import { nearWord } from "./near-word";

/** One of our commands beside the drop-in default. */
export interface Command extends CommandSummary {
  /** Runs with the words after the command's name; resolves with the exit code. */
  run(argv: readonly string[]): Promise<number>;
}

/** What a first word may be other than a flag. Each command is loaded only when it is used. */
export const COMMANDS: readonly Command[] = [
  {
    name: "demo",
    summary: "watch registrations happen, with a simulated driver and kubelet",
    run: async (argv) => (await import("./commands/demo")).runDemo(argv),
  },
  {
    name: "kubelet",
    summary: "simulate kubelet's side of a registration, with faults",
    run: async (argv) => (await import("./commands/kubelet")).runKubelet(argv),
  },
  {
    name: "driver",
    summary: "simulate a CSI driver",
    run: async (argv) => (await import("./commands/driver")).runDriver(argv),
  },
  {
    name: "doctor",
    summary: "find out why a driver is not registered; changes nothing",
    run: async (argv) => (await import("./commands/doctor")).runDoctor(argv),
  },
  {
    name: "manifest",
    summary: "write the YAML that deploys a driver with this registrar",
    run: async (argv) => (await import("./commands/manifest")).runManifest(argv),
  },
];

/**
 * The error for a first word that is nearly one of our commands; undefined for every other first word, which belongs to
 * Go's grammar: it ends the flags, and it is ignored together with the flags after it.
 *
 * A usage error for a near miss breaks no drop-in user. With the official registrar, a line that starts with a plain
 * word sets no flag, so the required --kubelet-registration-path is missing and the start always fails.
 */
export function correctCommand(firstWord: string | undefined): string | undefined {
  if (firstWord === undefined || firstWord.startsWith("-")) return undefined;
  const near = nearWord(
    firstWord,
    COMMANDS.map(({ name }) => name),
  );
  return near === undefined ? undefined : `there is no command "${firstWord}"; did you mean "${near}"?`;
}
