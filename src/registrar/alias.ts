import { randomInt } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isDeadSocket } from "./unix-socket";

/** What an alias adds to a name. The CSI specification has no `_` in names: no other driver's socket looks like this. */
const ALIAS_TAIL = /^-_[0-9a-z]{3}$/;
const SOCKET_TAIL = "-reg.sock";

/** A name that stands in for a driver's own in the name of its registration socket. */
export function createAlias(driverName: string): string {
  return `${driverName}-_${randomInt(36 ** 3)
    .toString(36)
    .padStart(3, "0")}`;
}

/**
 * The alias under which a registrar of this driver was killed, if one was: its dead socket is still in `folder`.
 * Until that file is replaced or removed, kubelet holds the driver registered by it and refuses it by any other
 * (csi_plugin.go, validateVersions), so the next registrar must go by the same alias.
 */
export async function findLeftAlias(folder: string, driverName: string): Promise<string | undefined> {
  for (const file of namesIn(folder)) {
    const alias = file.slice(0, -SOCKET_TAIL.length);
    if (!file.endsWith(SOCKET_TAIL) || !alias.startsWith(driverName)) continue;
    if (!ALIAS_TAIL.test(alias.slice(driverName.length))) continue;
    if (await isDeadSocket(join(folder, file))) return alias;
  }
  return undefined;
}

/** What is in a folder; nothing where it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
