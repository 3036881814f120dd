import { nearWord } from "../base/near-word";

interface Command {
  readonly name: string;
  readonly summary: string;
  run(argv: readonly string[]): Promise<number>;
}

const SUMMARIES = {
  demo: "watch registrations, with a simulated driver and kubelet",
  kubelet: "simulate kubelet at a registration, with faults",
  driver: "simulate a CSI driver",
  doctor: "find out why a driver is not registered; changes nothing",
  status: "show the drivers of this node and their registrations",
  manifest: "write the YAML that deploys a driver with this registrar",
  legacy: "show how drivers were registered in 2018",
} as const;

/** Each command is loaded only when it is used. */
const LOADERS: Readonly<Record<keyof typeof SUMMARIES, () => Promise<Command["run"]>>> = {
  demo: async () => (await import("../tools/demo/command")).runDemo,
  kubelet: async () => (await import("../tools/simulate/kubelet")).runKubelet,
  driver: async () => (await import("../tools/simulate/driver")).runDriver,
  doctor: async () => (await import("../tools/doctor/command")).runDoctor,
  status: async () => (await import("../tools/status/command")).runStatus,
  manifest: async () => (await import("../tools/manifest/command")).runManifest,
  legacy: async () => (await import("../tools/legacy/command")).runLegacy,
};

export const COMMANDS: readonly Command[] = Object.entries(SUMMARIES).map(([name, summary]) => ({
  name,
  summary,
  run: async (argv) => (await LOADERS[name as keyof typeof SUMMARIES]())(argv),
}));

/**
 * The usage error for a first word that is neither a flag nor a command. The official registrar ignores every flag behind it,
 * and ends with an error, too, because the required path is missing then.
 */
export function correctCommand(firstWord: string | undefined): string | undefined {
  if (firstWord === undefined || firstWord.startsWith("-")) return undefined;
  const names = COMMANDS.map(({ name }) => name);
  const near = nearWord(firstWord.toLowerCase(), names);
  const advice = near === undefined ? `the commands are ${names.join(", ")}` : `did you mean ${near}?`;
  return `there is no command ${JSON.stringify(firstWord)}; ${advice}; see registrar --help`;
}
