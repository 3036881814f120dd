import { RegistrarError } from "../../errors";

/**
 * The file path in a `--csi-address`: `/csi/csi.sock`, `unix:///csi/csi.sock`, `unix:/csi/csi.sock` and, as gRPC's
 * naming has it for relative paths, `unix:csi.sock` and `unix://csi.sock`.
 * Throws INVALID_OPTION for everything else: a CSI driver is reached over a unix socket only.
 */
export function parseCsiAddress(address: string): string {
  const path = address.startsWith("/")
    ? address
    : /^unix:(?:\/\/|(?!\/\/))(?<path>[^@].*)$/s.exec(address)?.groups?.path;
  // Two slashes at the beginning would name a host to gRPC; to Linux they are one.
  if (path !== undefined && !path.includes("\0")) return path.replace(/^\/{2,}/, "/");
  throw new RegistrarError(
    "INVALID_OPTION",
    `csi-address ${JSON.stringify(address)} is not a unix socket path: give /absolute/path or unix:///absolute/path`,
  );
}
