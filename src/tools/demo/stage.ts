import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { attempt, RegistrarError } from "../../base/errors";
import { createWakeUp, monotonicMs } from "../../base/pause";
import { registrationSocketPath } from "../../registrar/model/socket-name";

export const DRIVER_NAME = "demo.csi";

type Role = "doctor" | "driver" | "kubelet" | "registrar" | "second registrar";

/** The path of the driver's socket in a registrar's container; on the host it means nothing. */
export const IN_CONTAINER = "/csi/csi.sock";
/** Runs first in each process: its stdin ends when the demo is gone, also by SIGKILL. */
const END_WITH_DEMO = 'process.stdin.on("end", () => process.kill(process.pid, "SIGTERM")).resume().unref()';

/** A process, and fields of an event or of a log line that it writes. */
export type Sign = { readonly role: Role } & Readonly<Record<string, unknown>>;

/** A directory that stands for a node, and the processes of `cli` on it: none yet. */
export function startStage(cli: readonly string[], signal: AbortSignal) {
  const directory = mkdtempSync(join(tmpdir(), "demo-"));
  const csiAddress = join(directory, "plugins", DRIVER_NAME, "csi.sock");
  const pluginDir = join(directory, "plugins_registry");
  mkdirSync(dirname(csiAddress), { recursive: true });
  mkdirSync(pluginDir);
  const [address, registry] = [`--csi-address=${csiAddress}`, `--plugin-registration-path=${pluginDir}`];
  const topology = `--topology=topology.${DRIVER_NAME}/zone=zone-a`;
  const registrarWith = (hostPath: string) => [address, `--kubelet-registration-path=${hostPath}`, registry];
  const registrar = [...registrarWith(csiAddress), "--logging-format=json"];
  const words: Readonly<Record<Role, readonly string[]>> = {
    doctor: ["doctor", ...registrarWith(IN_CONTAINER), "--output=json"],
    driver: ["driver", address, `--name=${DRIVER_NAME}`, topology, "--max-volumes=12", "--output=json"],
    kubelet: ["kubelet", registry, "--output=json"],
    registrar,
    "second registrar": registrar,
  };

  const reports: Sign[] = [];
  const lines = new Map<Role, string[]>();
  const news = createWakeUp();
  const mishap = new AbortController();
  const over = AbortSignal.any([signal, mishap.signal]);
  const actors = new Map<Role, { readonly child: ChildProcess; readonly gone: Promise<void> }>();

  const find = (sign: Sign) =>
    reports.find((report) => Object.entries(sign).every(([field, value]) => report[field] === value));
  const lastLineOf = (role: Role) => `the ${role}'s last line: ${lines.get(role)?.at(-1) ?? "none"}`;

  /** A flag in `more` wins. `mayEnd`: the process ends by itself, and a report of the kind `ended` tells. */
  const start = (
    role: Role,
    { more = [], mayEnd = false }: { more?: readonly string[]; mayEnd?: boolean } = {},
  ) => {
    const [program = "", ...args] = [...cli, ...words[role], ...more];
    const first = ["--import", `data:text/javascript,${encodeURIComponent(END_WITH_DEMO)}`];
    // In a group of its own: Ctrl-C reaches only the demo.
    const child = spawn(program, [...first, ...args], { stdio: "pipe", detached: true });
    const said: string[] = [];
    lines.set(role, said);
    const hear = (line: string) => {
      said.push(line);
      reports.push({ ...attempt(() => JSON.parse(line)), role });
      news.call();
    };
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", hear);
    child.once("error", (error) => hear(error.message));
    // Emitted after an error, too, and after the last line.
    const gone = new Promise<unknown>((resolve) => child.once("close", resolve)).then(() => {
      const how = child.signalCode ?? `exit code ${child.exitCode}`;
      const text = `the ${role} ended (${how}); ${lastLineOf(role)}`;
      reports.push({ role, kind: "ended", code: child.exitCode });
      news.call();
      if (actors.get(role)?.child === child && !mayEnd) mishap.abort(new RegistrarError("ABORTED", text));
    });
    actors.set(role, { child, gone });
  };

  /** Resolves when the process is gone; it gets SIGKILL after 3 s. */
  const end = async (role: Role, signal: NodeJS.Signals) => {
    const actor = actors.get(role);
    actors.delete(role);
    actor?.child.kill(signal);
    setTimeout(() => actor?.child.kill("SIGKILL"), 3_000).unref();
    await actor?.gone;
  };

  return {
    directory,
    start,
    startAll: () => (["kubelet", "driver", "registrar"] as const).forEach((role) => void start(role)),
    end,
    deleteRegistrationSocket: () => unlinkSync(registrationSocketPath(pluginDir, DRIVER_NAME)),
    lastLineOf,
    /** All that it wrote. */
    outputOf: (role: Role) => lines.get(role)?.join("\n") ?? "",
    forget: () => void reports.splice(0),
    /** Waits for a report with this sign since `forget`. Undefined after `ms`. ABORTED: an actor ended unasked. */
    when: async (sign: Sign, ms: number) => {
      const endsAt = monotonicMs() + ms;
      let found = find(sign);
      while (!found && (await news.wait(over, endsAt - monotonicMs()))) found = find(sign);
      over.throwIfAborted();
      return found;
    },
    clear: async () => {
      await Promise.all(Array.from(actors.keys(), (role) => end(role, "SIGTERM")));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
