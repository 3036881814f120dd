import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { attempt, invalidOption, messageOf } from "../../base/errors";
import { escapeJson } from "../../logging/escape";
import { registrationSocketPath } from "../../registrar/model/socket-name";
import { createTimeline, type Happening, type Role } from "./happenings";

export const DRIVER_NAME = "demo.csi";
const GRACE_MS = 3_000;

export class MissedStep extends Error {
  override readonly name = "MissedStep";
}

export interface Programs {
  readonly cli: readonly string[];
  /** The registrar's program; it gets the official registrar's flags. */
  readonly registrar: readonly string[];
}

export type Stage = ReturnType<typeof startStage>;

/**
 * A directory that stands for a node, and the processes on it: none yet. With `keep`, the directory stays, with the output of each
 * process in it. Throws INVALID_OPTION if the directory cannot be made.
 */
export function startStage({ cli, registrar }: Programs, keep: boolean) {
  const directory = makeDirectory();
  const csiAddress = join(directory, "plugins", DRIVER_NAME, "csi.sock");
  const pluginDir = join(directory, "plugins_registry");
  mkdirSync(dirname(csiAddress), { recursive: true });
  mkdirSync(pluginDir);

  const timeline = createTimeline();
  const actors = new Map<Role, ReturnType<typeof startProcess>>();
  const mishap = new AbortController();

  const registrarCommand = [
    ...registrar,
    `--csi-address=${csiAddress}`,
    `--kubelet-registration-path=${csiAddress}`,
    `--plugin-registration-path=${pluginDir}`,
    "--logging-format=json",
    "-v=5",
  ];
  const commands: Readonly<Record<Role, readonly string[]>> = {
    driver: [
      ...[...cli, "driver", `--csi-address=${csiAddress}`, `--name=${DRIVER_NAME}`, "--output=json"],
      ...[`--topology=topology.${DRIVER_NAME}/zone=zone-a`, "--max-volumes=12"],
    ],
    kubelet: [...cli, "kubelet", `--plugin-registration-path=${pluginDir}`, "--output=json"],
    registrar: registrarCommand,
    "second registrar": registrarCommand,
  };

  const start = (role: Role) => {
    let lastLine = "nothing";
    const onLine = (line: string) => {
      lastLine = escapeJson(line);
      if (keep) appendFileSync(join(directory, `${role.replace(" ", "-")}.log`), `${line}\n`);
      // An event, or a line of a registrar's log.
      const report = attempt(() => JSON.parse(line));
      if (report?.kind !== undefined || report?.from !== undefined)
        timeline.add({ atMs: report.ts, ...report, role } as Happening);
    };
    const onEnd = (ending: string) => {
      if (actors.has(role))
        mishap.abort(new MissedStep(`the ${role} ended (${ending}); its last line: ${lastLine}`));
    };
    timeline.add({ role: "demo", kind: "start", who: role, atMs: Date.now() });
    actors.set(role, startProcess(commands[role], onLine, onEnd));
  };

  /** Resolves when the process is gone; it gets SIGKILL after 3 s. */
  const end = async (role: Role, signal: NodeJS.Signals) => {
    const actor = actors.get(role);
    actors.delete(role);
    actor?.child.kill(signal);
    const force = setTimeout(() => actor?.child.kill("SIGKILL"), GRACE_MS);
    await actor?.gone;
    clearTimeout(force);
  };

  return {
    directory,
    timeline,
    /** Aborted when an actor ended unasked; the reason names it and quotes its last line. */
    mishap: mishap.signal,
    start: (...roles: readonly Role[]) => roles.forEach(start),
    end,
    deleteRegistrationSocket: () => unlinkSync(registrationSocketPath(pluginDir, DRIVER_NAME)),
    clear: async () => {
      await Promise.all(Array.from(actors.keys(), (role) => end(role, "SIGTERM")));
      if (!keep) rmSync(directory, { recursive: true, force: true });
    },
  };
}

function makeDirectory(): string {
  try {
    return mkdtempSync(join(tmpdir(), "demo-"));
  } catch (cause) {
    const text = `cannot make a directory in ${tmpdir()}: ${messageOf(cause)}; name another directory by TMPDIR`;
    throw invalidOption(text, { cause });
  }
}

/** Starts a process, in a group of its own: Ctrl-C reaches only the demo. `onEnd` is called when its output is read. */
function startProcess(
  [program = "", ...words]: readonly string[],
  onLine: (line: string) => void,
  onEnd: (ending: string) => void,
) {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", onLine);
  const gone = new Promise<void>((resolve) => {
    let problem: string | undefined;
    child.once("error", (error) => {
      problem = error.message;
    });
    // Emitted after an error too, and after the last line.
    child.once("close", (code, signal) => {
      onEnd(problem ?? signal ?? `exit code ${code}`);
      resolve();
    });
  });
  return { child, gone };
}
