import { RegistrarError } from "../base/errors";

/** Linux' sockaddr_un holds 108 bytes with the closing NUL; libuv cuts a longer path without an error. */
export const MAX_SOCKET_PATH_BYTES = 107;

/** Whether a unix socket can have this path. */
export function fitsSocketPath(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
}

/** Throws SOCKET_UNUSABLE where a unix socket cannot have this path. */
export function checkSocketPathLength(path: string, what: string): void {
  if (fitsSocketPath(path)) return;
  const bytes = Buffer.byteLength(path);
  throw new RegistrarError(
    "SOCKET_UNUSABLE",
    `${what} ${path} has ${bytes} bytes, a unix socket path may have ${MAX_SOCKET_PATH_BYTES}: use a shorter folder`,
  );
}

/**
 * The file path in the address of a unix socket: `/csi/csi.sock`, `unix:///csi/csi.sock`, `unix:/csi/csi.sock` and, as
 * gRPC's naming has it for relative paths, `unix:csi.sock` and `unix://csi.sock`. Undefined for everything else.
 */
export function pathInUnixAddress(address: string): string | undefined {
  const path = address.startsWith("/")
    ? address
    : /^unix:(?:\/\/|(?!\/\/))(?<path>[^@].*)$/s.exec(address)?.groups?.path;
  // Two slashes at the beginning would name a host to gRPC; to Linux they are one.
  return path?.includes("\0") ? undefined : path?.replace(/^\/{2,}/, "/");
}
