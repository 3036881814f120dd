import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { patience } from "./process";

/** Resolves when the connection is no more, whoever ended it and how. */
export function gone(socket: Socket): Promise<void> {
  const { signal } = patience();
  return new Promise((resolve, reject) => {
    socket.once("close", () => resolve());
    signal.addEventListener("abort", () => reject(new Error("the connection stays open")));
  });
}

/** Connections that mind no error; all of them are there when it resolves. */
export async function connectTimes(times: number, path: string): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: times }, () => connect({ path }));
  for (const socket of sockets) socket.on("error", () => {});
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return sockets;
}
