import { rename, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { RegistrarError } from "../base/errors";
import { bindDotSocket, closeDotSocket, socketUnusable } from "./dot-socket";
import { callFileSystem } from "./file-calls";
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
  const bound = await bindDotSocket(dirname(path), onConnection, problem);
  /** Accepts no more, and leaves the file behind like a killed process. */
  const abandon = () => closeDotSocket(bound); // Before the renaming, that removes the dot-name too.
  try {
    await callFileSystem(path, () => rename(bound.dotPath, path));
  } catch (error) {
    await abandon();
    throw socketUnusable(problem, error);
  }
  const isInPlace = async () => {
    const now = await findLink(path);
    return typeof now === "object" && isSameFile(now, bound.stats);
  };
  return {
    isInPlace,
    abandon,
    /** Accepts no more, and removes the file if it is still this socket's. */
    withdraw: async (): Promise<void> => {
      await abandon();
      if (await isInPlace()) await callFileSystem(path, () => rm(path, { force: true }));
    },
  };
}
