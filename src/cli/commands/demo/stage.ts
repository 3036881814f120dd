import { appendFileSync, mkdirSync, mkdtempSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { attempt, invalidOption, messageOf } from "../../../base/errors";
import { escapeJson } from "../../../logging/escape";
import { registrationSocketPath } from "../../../registrar/socket/socket-name";
import type { CsiDriverEvent } from "../../../simulator/csi-driver-events";
import type { KubeletEvent } from "../../../simulator/kubelet-events";
import { type Actor, startActor } from "./actor";
import type { Happening, LogLine, Role } from "./happenings";
import { createTimeline } from "./timeline";

const DRIVER_NAME = "demo.csi";
const JSON_LINES = "--output=json";

export class MissedStep extends Error {
  override readonly name = "MissedStep";
}

export interface StageOptions {
  /** Our own program. */
  readonly cli: readonly string[];
  /** The registrar's program; it gets the official registrar's flags. */
  readonly registrar: readonly string[];
  readonly keep: boolean;
}

export type Stage = ReturnType<typeof openStage>;

/** A folder that stands for a node, and the processes on it: none yet. Throws INVALID_OPTION if it cannot be made. */
export function openStage({ cli, registrar, keep }: StageOptions) {
  const folder = makeFolder();
  const csiAddress = join(folder, "plugins", DRIVER_NAME, "csi.sock");
  const pluginDir = join(folder, "plugins_registry");
  mkdirSync(dirname(csiAddress), { recursive: true });
  mkdirSync(pluginDir);

  const timeline = createTimeline();
  const actors = new Map<Role, Actor>();
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
      if (typeof object === "object" && object !== null) timeline.add(happeningOf(role, object));
    };
    const onEnd = (how: string, isUnasked: boolean) => {
      timeline.add({ kind: "end", lane: role, atMs: Date.now() });
      if (isUnasked) mishap.abort(new MissedStep(`the ${role} ended (${how}); its last line: ${lastLine}`));
    };
    timeline.add({ kind: "begin", lane: role, atMs: Date.now() });
    actors.set(role, startActor(commands[role], onLine, onEnd));
  };
  const take = (role: Role): Actor => {
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

/** What a process reports: an event, or a line of a registrar's log. */
function happeningOf(role: Role, object: object): Happening {
  if (role === "driver" || role === "kubelet") {
    const event = object as CsiDriverEvent & KubeletEvent;
    return { kind: role, event, atMs: event.atMs };
  }
  const line = object as LogLine;
  return { kind: "registrar", role, line, atMs: line.ts };
}
