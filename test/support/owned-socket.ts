import { watch } from "node:fs";
import type { Socket } from "node:net";
import { createSocketFile } from "../../src/unix/socket-file";
import { recordLog } from "./recorded-log";

/** An owner of a socket file, withdrawn when it is disposed of. Its connections end when the client's do. */
export function createOwnedSocket(onConnection: (connection: Socket) => void = () => {}) {
  const log = recordLog();
  const socket = createSocketFile((connection) => {
    connection.on("error", () => {});
    connection.on("end", () => connection.end()).resume();
    onConnection(connection);
  }, log.logger);
  const { signal: never } = new AbortController();
  return {
    log,
    get path() {
      return socket.path;
    },
    look: (path: string) => socket.look(path, never),
    hasDirectory: socket.hasDirectory,
    publicationOf: socket.publicationOf,
    hide: socket.hide,
    withdraw: socket.withdraw,
    close: socket.close,
    /** Resolves with what was there before, or why ours is not in place. */
    publish: async (path: string, { overLiving = false, signal = never } = {}) => {
      const end = await socket.publish(path, { overLiving, signal });
      return end.kind === "in-place" ? end.found : end.kind;
    },
    [Symbol.asyncDispose]: socket.withdraw,
  };
}

export function unusable(text: string): unknown {
  return expect.objectContaining({
    name: "RegistrarError",
    code: "SOCKET_UNUSABLE",
    message: expect.stringContaining(text),
  });
}

/** The names that come and go in a folder, each time that one does; kubelet's plugin watcher sees the visible ones. */
export function watchNames(folder: string) {
  const all: string[] = [];
  const watcher = watch(folder, (event, name) => {
    if (event === "rename" && name !== null) all.push(name);
  });
  return {
    all,
    visible: () => all.filter((name) => !name.startsWith(".")),
    [Symbol.dispose]: () => watcher.close(),
  };
}
