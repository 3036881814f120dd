import { invalidOption } from "../base/errors";
import { quoteText } from "../logging/escape";

/** Linux' sockaddr_un holds 108 bytes with the closing NUL; libuv silently cuts a longer path. */
export const MAX_SOCKET_PATH_BYTES = 107;

export function fitsSocketPath(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
}

/**
 * The path in `/csi/csi.sock`, `unix:///csi/csi.sock`, `unix:/csi/csi.sock`, and gRPC's relative `unix:csi.sock` and
 * `unix://csi.sock`. Undefined for any other address.
 */
export function pathInUnixAddress(address: string): string | undefined {
  const path = address.startsWith("/") ? address : /^unix:(?:\/\/|(?!\/\/))([^@].*)/s.exec(address)?.[1];
  // To gRPC two slashes at the beginning name a host; to Linux they are one.
  return path?.includes("\0") ? undefined : path?.replace(/^\/{2,}/, "/");
}

/** The path in a `--csi-address`. Throws INVALID_OPTION, naming `option`, unless it is the address of a unix socket. */
export function parseCsiAddress(address: string, option = "csi-address"): string {
  const path = pathInUnixAddress(address);
  if (path !== undefined) return path;
  throw invalidOption(
    `${option} ${quoteText(address)} is not a unix socket path: give /absolute/path or unix:///absolute/path`,
  );
}
