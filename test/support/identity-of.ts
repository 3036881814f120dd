import { lstatSync } from "node:fs";

/** Tells a file from every other that was ever at its path: an inode's number may be given to the next file. */
export function identityOf(path: string): string {
  const { ino, birthtimeNs } = lstatSync(path, { bigint: true });
  return `${ino}, born ${birthtimeNs}`;
}
