import { nearWord } from "../base/near-word";

export interface Command {
  readonly name: string;
  readonly summary: string;
  run(argv: readonly string[]): Promise<number>;
}

/** Each command is loaded only when it is used. */
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
    summary: "show the drivers of this node and the state of their registrations",
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

const MEANT: readonly { readonly words: readonly string[]; readonly meant: string }[] = [
  { words: ["help"], meant: "--help" },
  { words: ["version"], meant: "--version" },
  { words: ["check", "diagnose"], meant: "doctor" },
  { words: ["analyze"], meant: "doctor -f FILE" },
  { words: ["health"], meant: "--mode=health-probe" },
  { words: ["ready", "probe"], meant: "--mode=ready-probe" },
  { words: ["run", "start", "serve", "register"], meant: "with flags and no word" },
];

/**
 * The usage error for a first word that looks like a command; undefined for any other, such as a path. A drop-in user
 * loses nothing: the official registrar takes the word for the end of the flags, and lacks its required flag.
 */
export function correctCommand(firstWord: string | undefined): string | undefined {
  if (firstWord === undefined || !/^[a-z][a-z-]*$/i.test(firstWord) || /^(?:true|false)$/i.test(firstWord))
    return undefined;
  const names = COMMANDS.map(({ name }) => name);
  const word = firstWord.toLowerCase();
  const meant = MEANT.find(({ words }) => words.includes(word))?.meant ?? nearWord(word, names);
  const advice =
    meant === undefined ? `the commands are ${names.join(", ")}` : `did you mean: registrar ${meant}?`;
  return `there is no command "${firstWord}"; ${advice}`;
}
