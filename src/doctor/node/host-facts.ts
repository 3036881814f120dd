import { readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../base/errors";
import { isFolder } from "../../unix/files";
import type { SelinuxFacts } from "./facts";

/** Those of `directories` that exist, except `path`. */
export function otherDirectories(path: string, directories: readonly string[]): readonly string[] {
  return directories.filter((directory) => directory !== path && isFolder(directory));
}

/** What can be seen of SELinux without its tools; a kernel that has it switched off does not list its file system. */
export function lookAtSelinux(procfs: string, sysfs: string): SelinuxFacts {
  const fileSystems = readText(join(procfs, "filesystems"));
  if (fileSystems === undefined) return { kind: "unknown" };
  if (!/\bselinuxfs$/m.test(fileSystems)) return { kind: "off" };
  const enforce = readText(join(sysfs, "fs", "selinux", "enforce"))?.trim();
  const modes: Readonly<Record<string, "enforcing" | "permissive">> = { "1": "enforcing", "0": "permissive" };
  const label = readText(join(procfs, "self", "attr", "current"))
    ?.replace(/\0.*$/s, "")
    .trim();
  return { kind: "on", mode: modes[enforce ?? ""], label: label === "" ? undefined : label };
}

const readText = (path: string) => attempt(() => readFileSync(path, "utf8"));
