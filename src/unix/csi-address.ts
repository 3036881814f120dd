import { resolve } from "node:path";
import { invalidOption } from "../base/errors";
import { pathInUnixAddress } from "./socket-path";

/** The path in a `--csi-address`. Throws INVALID_OPTION unless it is the address of a unix socket. */
export function parseCsiAddress(address: string): string {
  const path = pathInUnixAddress(address);
  if (path !== undefined) return path;
  throw invalidOption(
    `csi-address ${JSON.stringify(address)} is not a unix socket path: give /absolute/path or unix:///absolute/path`,
  );
}

/** The same address with an absolute path, so that a later `chdir` changes nothing. */
export function absoluteCsiAddress(address: string): string {
  const path = pathInUnixAddress(address);
  return path === undefined || path.startsWith("/") ? address : resolve(path);
}
