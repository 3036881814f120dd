import { basename } from "node:path";
import { attempt, messageOf } from "../base/errors";
import { OFFICIAL_PROBE_MODE } from "../flags/grammar";
import { nearestFlag, parseFlags } from "../flags/table";
import { resolveLogging } from "../logging/logging-options";
import { printHelp } from "../runtime/help-text";
import { memoryProblem } from "../runtime/memory-limit";
import { print, printError } from "../runtime/print";
import { endNow, endOnSignals, endProcess, listenOnly, missedSigterm } from "../runtime/signals";
import { version } from "../runtime/version";
import { COMMANDS, correctCommand } from "./commands";

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
const EXIT_SIGTERM = 143;

/** The path this was started under, as Go's os.Args[0]. */
const programPath = process.argv[1] ?? "registrar";

/**
 * Checks in the official registrar's order (main.go), so that the first error line is the same: flags, logging,
 * version, required path, probe mode. Loads nothing heavy before that: exec probes have a second, at a tenth of a CPU.
 */
async function main(argv: readonly string[]): Promise<number> {
  if (process.platform === "win32") {
    printError(
      "registrar runs on Linux only: Node cannot serve the AF_UNIX sockets that kubelet on Windows dials",
    );
    return EXIT_FAILURE;
  }
  leaveRemovedDirectory();
  const command = COMMANDS.find(({ name }) => name === argv[0]);
  if (command) return command.run(argv.slice(1));
  const correction = correctCommand(argv[0]);
  if (correction !== undefined) {
    printError(`registrar: ${correction}`);
    return EXIT_USAGE;
  }

  const line = parseFlags(argv);
  if (line.kind === "help") {
    // The official prints it on stderr, where it cannot be paged or searched.
    return printHelp("registrar");
  }
  if (line.kind === "error") {
    const near = nearestFlag(line.unknown);
    const hint = near === undefined ? "" : `did you mean --${near}? Else `;
    printError(line.message, `${hint}see ${basename(programPath).replace(/.*\.js$/, "registrar")} --help`);
    return EXIT_USAGE;
  }
  const { flags } = line;
  const logging = resolveLogging(flags);
  if (logging.kind === "valid" && flags.version) {
    return print(`${programPath} ${version}\n`);
  }
  if (logging.kind === "valid" && flags.mode === OFFICIAL_PROBE_MODE && flags.kubeletRegistrationPath !== "")
    return 0;
  if (logging.kind === "valid" && (flags.mode === "health-probe" || flags.mode === "ready-probe")) {
    const { runProbe } = await import("./probe");
    return runProbe(flags, flags.mode === "health-probe" ? "health" : "ready");
  }
  if (basename(programPath) === "kubectl-registrar") {
    printError(
      "kubectl registrar: name a command, such as doctor --cluster; only a container registers a driver",
    );
    return EXIT_USAGE;
  }
  // Before a registration is loaded: without memory a start hardly gets beyond that.
  const problem = memoryProblem(process.constrainedMemory(), "/sys/block");
  if (problem !== undefined) {
    const { createCliLogger } = await import("../runtime/cli-logger");
    const log = await createCliLogger(logging);
    log.warn("Memory limit is too small: a start after a reboot may never end", problem);
  }
  const { runRegister } = await import("./register");
  return runRegister(flags, logging);
}

/** `process.cwd` throws in a removed working directory. */
function leaveRemovedDirectory(): void {
  if (attempt(process.cwd) !== undefined) return;
  process.chdir("/");
  printError("registrar: the working directory was removed: relative paths begin at / instead");
}

// At SIGUSR1 Node opens its inspector, a door into a process of root. The image's Node never does.
listenOnly("SIGUSR1", () => {});
if (missedSigterm()) {
  printError("registrar: SIGTERM came while Node was starting: ended before it began to register");
  endNow(EXIT_SIGTERM);
}
endOnSignals();
main(process.argv.slice(2)).then(endProcess, (error: unknown) => {
  const { stack = "" } = Object(error) as Partial<Error>;
  printError(messageOf(error), ...(stack.match(/^ +at .*/gm) ?? []));
  return endProcess(EXIT_FAILURE);
});
