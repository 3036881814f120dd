import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A control group (version 1) of our own with one limit. Whatever is started in it must have ended before its disposal. */
export interface Cgroup extends Disposable {
  /** The command line that runs another one in this group. */
  readonly inside: (command: readonly string[]) => readonly string[];
  /** A file of the group, as text. */
  readonly read: (file: string) => string;
}

const ROOT = "/sys/fs/cgroup";
const PERIOD_US = 100_000;

/** Why limits cannot be set here, for a line that says what is left out; undefined where they can. */
export function whyNoCgroups(): string | undefined {
  try {
    for (const controller of ["cpu", "memory"]) accessSync(join(ROOT, controller, "tasks"), constants.W_OK);
    return undefined;
  } catch {
    return `no cgroup v1 controllers that this user may write under ${ROOT}`;
  }
}

/** A group that gets so many thousandths of a CPU, as a container with `limits: {cpu: 100m}`. */
export function cpuLimit(millis: number): Cgroup {
  return createGroup("cpu", {
    "cpu.cfs_period_us": PERIOD_US,
    "cpu.cfs_quota_us": (PERIOD_US * millis) / 1_000,
  });
}

/** A group that gets so much memory, as a container with `limits: {memory: 32Mi}`. */
export function memoryLimit(mebibytes: number): Cgroup {
  return createGroup("memory", { "memory.limit_in_bytes": mebibytes * 2 ** 20 });
}

function createGroup(controller: string, settings: Readonly<Record<string, number>>): Cgroup {
  const folder = join(ROOT, controller, `registrar-bench-${process.pid}-${performance.now().toFixed(0)}`);
  mkdirSync(folder);
  for (const [file, value] of Object.entries(settings)) writeFileSync(join(folder, file), `${value}`);
  return {
    // The shell joins the group, then becomes the program.
    inside: (command) => ["/bin/sh", "-c", `echo $$ > ${folder}/tasks; exec "$@"`, "sh", ...command],
    read: (file) => readFileSync(join(folder, file), "utf8"),
    [Symbol.dispose]: () => rmdirSync(folder),
  };
}
