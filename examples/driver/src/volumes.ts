import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { isAbsolute, normalize, sep } from "node:path";
import { promisify } from "node:util";
import { failure, type PublishRequest } from "./csi.ts";

const run = promisify(execFile);

/** Where a volume's data is: in kubelet's directory of the pod, or in a tmpfs that is mounted there. */
export type Medium = { readonly kind: "disk" } | { readonly kind: "memory"; readonly size: string };

/** Reads a volume's attributes: `medium: disk` (the default), or `medium: memory` with `size: 64Mi` (the default). */
export function parseMedium(attributes: PublishRequest["volumeContext"]): Medium {
  const { medium = "disk", size = "64Mi" } = attributes;
  if (medium === "disk") return { kind: "disk" };
  if (medium !== "memory") throw failure("INVALID_ARGUMENT", `medium is "${medium}"; it is disk or memory`);
  const [, digits, unit] = /^([1-9]\d{0,9})(Ki|Mi|Gi)$/.exec(size) ?? [];
  if (!digits || !unit) throw failure("INVALID_ARGUMENT", `size is "${size}"; it is like 64Mi`);
  return { kind: "memory", size: `${digits}${unit.charAt(0).toLowerCase()}` };
}

/** Where a pod's volume goes must be below kubelet's directory of pods: what is there is removed with the volume. */
export function checkTarget(path: string, podsDirectory: string): void {
  const isBelow = isAbsolute(path) && normalize(path) === path && path.startsWith(`${podsDirectory}${sep}`);
  if (!isBelow) throw failure("INVALID_ARGUMENT", `target_path ${path} is not below ${podsDirectory}`);
}

/** Makes the volume at `path`; does nothing where it is there, since kubelet may ask again. */
export async function publish(path: string, medium: Medium): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o777 });
  if (medium.kind === "disk" || (await isMounted(path))) return;
  await run("mount", ["-t", "tmpfs", "-o", `size=${medium.size},mode=0777`, "scratch", path]);
}

/** Removes the volume and what is in it; does nothing where it is gone. */
export async function unpublish(path: string): Promise<void> {
  if (await isMounted(path)) await run("umount", [path]);
  await rm(path, { recursive: true, force: true });
}

async function isMounted(path: string): Promise<boolean> {
  const mounts = await readFile("/proc/self/mountinfo", "utf8");
  // The fifth field; spaces in it are written as \040.
  const points = mounts.split("\n").map((line) => line.split(" ")[4]?.replaceAll("\\040", " "));
  return points.includes(path);
}
