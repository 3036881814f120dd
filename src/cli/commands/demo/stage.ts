import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { createInterface } from "node:readline";
import { attempt, invalidOption, messageOf } from "../../../base/errors";
import { escapeJson } from "../../../logging/escape";
import { registrationSocketPath } from "../../../registrar/socket/socket-name";
import type { CsiDriverEvent } from "../../../simulator/driver/csi-driver";
import type { KubeletEvent } from "../../../simulator/kubelet/events";
import { createTimeline, type Happening, type LoggedStateChange, type Role } from "./happenings";
import type { Storyteller } from "./storyteller";

export const DRIVER_NAME = "demo.csi";
const JSON_LINES = "--output=json";
const GRACE_MS = 3_000;

export class MissedStep extends Error {
  override readonly name = "MissedStep";
}

export interface DemoOptions {
  readonly cli: readonly string[];
  /** The registrar's program; it gets the official registrar's flags. */
  readonly registrar: readonly string[];
  /** Keeps the folder, with the output of each process in it. */
  readonly keep: boolean;
  readonly svg?: string | undefined;
  readonly teller: Storyteller;
  /** How long a step may take. A registration takes a second or two; the default of 10 s is for a busy machine. */
  readonly stepMs?: number | undefined;
  readonly signal: AbortSignal;
}

export type Stage = ReturnType<typeof openStage>;

/** A folder that stands for a node, and the processes on it: none yet. Throws INVALID_OPTION if it cannot be made. */
export function openStage({ cli, registrar, keep }: DemoOptions) {
  const folder = makeFolder();
  const csiAddress = join(folder, "plugins", DRIVER_NAME, "csi.sock");
  const pluginDir = join(folder, "plugins_registry");
  mkdirSync(dirname(csiAddress), { recursive: true });
  mkdirSync(pluginDir);

  const timeline = createTimeline();
  const actors = new Map<Role, ReturnType<typeof startActor>>();
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
      ...[...cli, "driver", `--csi-address=${csiAddress}`, `--name=${DRIVER_NAME}`],
      ...[`--topology=topology.${DRIVER_NAME}/zone=zone-a`, "--max-volumes=12", JSON_LINES],
    ],
    kubelet: [...cli, "kubelet", `--plugin-registration-path=${pluginDir}`, JSON_LINES],
    registrar: registrarCommand,
    "second registrar": registrarCommand,
  };

  const start = (role: Role) => {
    let lastLine = "nothing";
    const onLine = (line: string) => {
      lastLine = escapeJson(line);
      if (keep) appendFileSync(join(folder, `${role.replace(" ", "-")}.log`), `${line}\n`);
      const object: unknown = attempt(() => JSON.parse(line));
      const happening = object instanceof Object ? happeningOf(role, object) : undefined;
      if (happening !== undefined) timeline.add(happening);
    };
    const onEnd = (how: string, isUnasked: boolean) => {
      timeline.add({ kind: "end", lane: role, atMs: Date.now() });
      if (isUnasked) mishap.abort(new MissedStep(`the ${role} ended (${how}); its last line: ${lastLine}`));
    };
    timeline.add({ kind: "begin", lane: role, atMs: Date.now() });
    actors.set(role, startActor(commands[role], onLine, onEnd));
  };
  const take = (role: Role) => {
    const actor = actors.get(role);
    if (actor === undefined) throw new Error(`there is no ${role} on stage`);
    actors.delete(role);
    return actor;
  };

  return {
    folder,
    timeline,
    /** Aborted when an actor ended unasked; the reason names it and quotes its last line. */
    mishap: mishap.signal,
    short: (path: string) => relative(folder, path),
    start: (...roles: readonly Role[]) => roles.forEach(start),
    stop: (role: Role) => take(role).stop(),
    kill: (role: Role) => take(role).kill(),
    deleteRegistrationSocket: () => unlinkSync(registrationSocketPath(pluginDir, DRIVER_NAME)),
    /** Stops every actor and removes the folder, except with `keep`. */
    clear: async () => {
      await Promise.all([...actors.keys()].map((role) => take(role).stop()));
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "demo-"));
  } catch (cause) {
    const text = `cannot make a folder in ${tmpdir()}: ${messageOf(cause)}; name another folder by TMPDIR`;
    throw invalidOption(text, { cause });
  }
}

/** What a process reports: an event, or a registrar's change of state; undefined for any other line of its log. */
function happeningOf(role: Role, object: object): Happening | undefined {
  if (role === "driver" || role === "kubelet") {
    const event = object as CsiDriverEvent & KubeletEvent;
    return { kind: role, event, atMs: event.atMs };
  }
  const change = object as LoggedStateChange;
  return "from" in object ? { kind: "registrar", role, change, atMs: change.ts } : undefined;
}

/** Starts a process, in a group of its own: Ctrl-C reaches only the demo. `onEnd` is called when its output is read. */
function startActor(
  [program = "", ...words]: readonly string[],
  onLine: (line: string) => void,
  onEnd: (how: string, isUnasked: boolean) => void,
) {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let isUnasked = true;
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", onLine);
  const gone = new Promise<void>((resolve) => {
    let problem: string | undefined;
    child.once("error", (error) => {
      problem = error.message;
    });
    // Emitted after an error too, and after the last line.
    child.once("close", (code, signal) => {
      onEnd(problem ?? signal ?? `exit code ${code}`, isUnasked);
      resolve();
    });
  });
  const endBy = async (signal: NodeJS.Signals) => {
    isUnasked = false;
    child.kill(signal);
    const force = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
    await gone;
    clearTimeout(force);
  };
  return {
    /** Sends SIGTERM, as when a pod is deleted, and SIGKILL after 3 s; resolves when the process is gone. */
    stop: () => endBy("SIGTERM"),
    kill: () => endBy("SIGKILL"),
  };
}
