import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { LONGEST_LIFE_MS } from "./child-process";

const PROGRAM = `
  require("node:net").createServer().listen({ path: process.argv[1], backlog: 1 }, () => {
    require("node:fs").writeSync(1, "listening");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${LONGEST_LIFE_MS});
    process.exit();
  });`;

/** A socket of a frozen process, whose listen queue is full: who connects gets EAGAIN. */
export async function startStuckSocket(path: string): Promise<AsyncDisposable> {
  const process = spawn(globalThis.process.execPath, ["-e", PROGRAM, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(process.stdout, "data");
  const sockets: Socket[] = [];
  for (let isFull = false; !isFull; ) {
    const socket = connect({ path });
    sockets.push(socket);
    isFull = await new Promise((resolve) => {
      socket.once("connect", () => resolve(false));
      socket.once("error", () => resolve(true));
    });
  }
  return {
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      process.kill("SIGKILL");
      await once(process, "close");
    },
  };
}
