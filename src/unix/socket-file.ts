import { lstatSync, renameSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { attempt, RegistrarError } from "../base/errors";
import { bindDotSocket, socketUnusable } from "./dot-socket";
import { findLink, isSameFile } from "./files";

/**
 * Listens at `path`, with mode 0700. It renames a socket that already listens, so that it replaces an old one, dead or alive, in
 * one step. Open connections outlive `withdraw` and `abandon`. Rejects with SOCKET_UNUSABLE, and then has changed nothing,
 * also if a file that is not a socket has the name.
 */
export async function listenOnSocketFile(path: string, onConnection: (connection: Socket) => void) {
  const there = await findLink(path);
  if (typeof there === "object" && !there.isSocket())
    throw new RegistrarError("SOCKET_UNUSABLE", `cannot listen on ${path}: it exists but is not a socket`);
  const problem = `cannot listen on ${path}`;
  const { dotPath, server, stats } = await bindDotSocket(dirname(path), onConnection, problem);
  try {
    renameSync(dotPath, path);
  } catch (error) {
    server.close(); // That removes the dot-name too.
    throw socketUnusable(problem, error);
  }
  const isInPlace = () => {
    const now = attempt(() => lstatSync(path));
    return now !== undefined && isSameFile(now, stats);
  };
  return {
    isInPlace,
    /** Accepts no more, and removes the file if it is still this socket's. */
    withdraw: (): void => {
      server.close();
      if (isInPlace()) rmSync(path, { force: true });
    },
    /** Accepts no more, and leaves the file behind like a killed process. */
    abandon: (): void => void server.close(),
  };
}
