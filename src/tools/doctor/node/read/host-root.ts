import { readlink } from "node:fs/promises";
import { join } from "node:path";
import { callFileSystem } from "../../../../unix/file-calls";

/** Linux' own limit. */
const MAX_LINKS = 40;

/**
 * A path of another root as it is reached from here. The kernel would follow an absolute link on the way to this root; the host,
 * or a process in its container, follows it to its own: MicroK8s' /var/lib/kubelet is such a link.
 */
export async function reachBelow(root: string, path: string): Promise<string> {
  if (root === "/") return path;
  const open = path.split("/").reverse();
  let reached: readonly string[] = [];
  for (let links = 0; open.length > 0; ) {
    const name = open.pop() ?? "";
    if (name === "..") reached = reached.slice(0, -1);
    if (["", ".", ".."].includes(name)) continue;
    const at = join(root, ...reached, name);
    // No link, or nothing to be read: what looks there says so.
    const link = await callFileSystem(at, () => readlink(at)).catch(() => undefined);
    if (link === undefined || links++ >= MAX_LINKS) reached = [...reached, name];
    else {
      if (link.startsWith("/")) reached = [];
      open.push(...link.split("/").reverse());
    }
  }
  return join(root, ...reached);
}
