import { resolve } from "node:path";
import { RegistrarError } from "../../errors";

/**
 * The file path in a `--csi-address`: `/csi/csi.sock`, `unix:///csi/csi.sock`, `unix:/csi/csi.sock` and, as gRPC's
 * naming has it for relative paths, `unix:csi.sock` and `unix://csi.sock`.
 * Throws INVALID_OPTION for everything else: a CSI driver is reached over a unix socket only.
 */
export function parseCsiAddress(address: string): string {
  const path = pathInCsiAddress(address);
  if (path !== undefined) return path;
  throw new RegistrarError(
    "INVALID_OPTION",
    `csi-address ${JSON.stringify(address)} is not a unix socket path: give /absolute/path or unix:///absolute/path`,
  );
}

/** The same, undefined where there is none. */
export function pathInCsiAddress(address: string): string | undefined {
  const path = address.startsWith("/")
    ? address
    : /^unix:(?:\/\/|(?!\/\/))(?<path>[^@].*)$/s.exec(address)?.groups?.path;
  // Two slashes at the beginning would name a host to gRPC; to Linux they are one.
  return path?.includes("\0") ? undefined : path?.replace(/^\/{2,}/, "/");
}

/** The same address with an absolute path, so that a later `chdir` changes nothing. */
export function absoluteCsiAddress(address: string): string {
  const path = pathInCsiAddress(address);
  return path === undefined || path.startsWith("/") ? address : resolve(path);
}
