import { basename } from "node:path";
import { errnoOf, messageOf, RegistrarError, systemError } from "../base/errors";
import { fitsSocketPath, MAX_SOCKET_PATH_BYTES } from "./socket-path";

/** The same text each time, without the dot-name: the log writes equal lines once a minute. */
export function socketUnusable(path: string, error: unknown, dotPath = path): RegistrarError {
  const errno = errnoOf(error) ?? "";
  const reason = EXPLANATIONS[errno] ?? messageOf(error).replaceAll(dotPath, path);
  const text = `cannot listen on ${path}: ${errno ? `${errno}: ` : ""}${reason}`;
  return new RegistrarError("SOCKET_UNUSABLE", text, { cause: error });
}

/** Throws SOCKET_UNUSABLE for a path that the kernel would cut. */
export function refuseLongPath(path: string): void {
  if (fitsSocketPath(path)) return;
  const name = Buffer.byteLength(basename(path));
  const advice =
    name + "/".length < MAX_SOCKET_PATH_BYTES
      ? "use a shorter directory"
      : `its last part alone has ${name}: no directory helps, shorten that name (a driver's name makes its registration socket's)`;
  const text = `a unix socket path has at most ${MAX_SOCKET_PATH_BYTES} bytes, this one has ${Buffer.byteLength(path)}: ${advice}`;
  throw socketUnusable(path, systemError("ENAMETOOLONG", text));
}

const NOT_PERMITTED =
  "permission denied: it must be a directory that this user can write to; in a pod that is root, with a fitting SELinux label";

const EXPLANATIONS: Readonly<Record<string, string>> = {
  ENOENT: "the directory does not exist: is it mounted?",
  ENOTDIR: "part of the path is not a directory",
  ENOTSOCK: "it exists but is not a socket: remove it, or use another path",
  EACCES: NOT_PERMITTED,
  EPERM: NOT_PERMITTED,
  EROFS: "the directory is mounted read-only",
  EMFILE: "this process has no file descriptor left: see ulimit -n",
  ENOSPC: "no space left on its file system",
  ETIMEDOUT: "its file system does not answer",
};
