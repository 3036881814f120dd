import { nearWord } from "../base/near-word";
import type { CommandSummary } from "./help";

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
    summary: "find out why a driver is not registered, on a node or in a cluster; changes nothing",
    run: async (argv) => (await import("./commands/doctor")).runDoctor(argv),
  },
  {
    name: "status",
    summary: "show the drivers of this node and where their registrars stand",
    run: async (argv) => (await import("./commands/status")).runStatus(argv),
  },
  {
    name: "manifest",
    summary: "write the YAML that deploys a driver with this registrar",
    run: async (argv) => (await import("./commands/manifest")).runManifest(argv),
  },
  {
    name: "legacy",
    summary: "show what driver-registrar did in 2018, before kubelet registered drivers",
    run: async (argv) => (await import("./commands/legacy")).runLegacy(argv),
  },
];

/** What people type out of habit, and what they mean. */
const MEANT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    help: "registrar --help",
    version: "registrar --version",
    check: "registrar doctor",
    diagnose: "registrar doctor",
    analyze: "registrar doctor -f FILE",
    health: "registrar --mode=health-probe",
    ready: "registrar --mode=ready-probe",
    probe: "registrar --mode=ready-probe",
    run: "registrar with flags and no word",
    start: "registrar with flags and no word",
    serve: "registrar with flags and no word",
    register: "registrar with flags and no word",
  }),
);

/**
 * What to tell somebody whose first word is a command that we do not have; undefined for every other first word, such
 * as a path, which is for Go's grammar: there it ends the flags and is ignored, as are the flags behind it.
 *
 * That such a word ends us with a usage error takes nothing from a drop-in user. At the official registrar a line that
 * starts with a plain word sets no flag, so the required --kubelet-registration-path is missing, and it always fails.
 */
export function correctCommand(firstWord: string | undefined): string | undefined {
  if (firstWord === undefined || !/^[a-z][a-z-]*$/i.test(firstWord) || /^(?:true|false)$/i.test(firstWord))
    return undefined;
  const names = COMMANDS.map(({ name }) => name);
  const near = nearWord(firstWord.toLowerCase(), names);
  const meant = MEANT.get(firstWord.toLowerCase()) ?? (near && `registrar ${near}`);
  const advice = meant === undefined ? `the commands are ${names.join(", ")}` : `did you mean: ${meant}?`;
  return `there is no command "${firstWord}"; ${advice}`;
}
