import { renameSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { Server, ServerCredentials, type sendUnaryData } from "@grpc/grpc-js";
import { type PluginIdentity, protos } from "../../src/grpc/protos";

/** What the driver does about one GetPluginInfo call. */
export type Answer =
  | Partial<PluginIdentity>
  | { readonly code: number; readonly details?: string }
  /** Never answers. */
  | "hang";

export type ScriptedDriver = Awaited<ReturnType<typeof startScriptedDriver>>;

/**
 * Starts a CSI Identity service that gives `answers` in turn, and the last of them from then on; with plain grpc-js, so
 * that our client is not tested by our server.
 */
export async function startScriptedDriver(socketPath: string, ...answers: readonly Answer[]) {
  const { identity } = protos;
  const authorities: string[] = [];
  const sockets = new Set<Socket>();
  let wake = () => {};

  const grpc = new Server();
  grpc.addService(
    { GetPluginInfo: identity.GetPluginInfo },
    {
      GetPluginInfo: (call: { getHost(): string }, callback: sendUnaryData<PluginIdentity>) => {
        const answer = answers[Math.min(authorities.length, answers.length - 1)] ?? "hang";
        authorities.push(call.getHost());
        wake();
        if (answer === "hang") return;
        if ("code" in answer) callback({ code: answer.code, details: answer.details ?? "as scripted" });
        else callback(null, { name: "", vendorVersion: "v1", manifest: {}, ...answer });
      },
    },
  );
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    injector.injectConnection(socket);
  });
  // Node unlinks the name it bound when it closes; under another name the file survives, as it does a SIGKILL.
  const boundPath = `${socketPath}~`;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(boundPath, resolve);
  });
  renameSync(boundPath, socketPath);

  let ending: Promise<void> | undefined;
  /** Ends as by SIGKILL: connections are cut, the socket file stays. */
  const kill = (): Promise<void> => {
    ending ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
      grpc.forceShutdown();
    });
    return ending;
  };
  /** Ends in good order: connections are cut, the socket file is removed. */
  const stop = (): Promise<void> => {
    if (ending === undefined) rmSync(socketPath, { force: true });
    return kill();
  };
  return {
    /** The `:authority` of each GetPluginInfo call so far. */
    authorities: authorities as readonly string[],
    /** How many connections are open. */
    openConnections: () => sockets.size,
    /** Ends its connections and goes on listening. */
    endConnections: () => {
      for (const socket of sockets) socket.destroy();
    },
    /** Resolves when GetPluginInfo was called this often. */
    called: (times: number) =>
      new Promise<void>((resolve) => {
        wake = () => {
          if (authorities.length >= times) resolve();
        };
        wake();
      }),
    kill,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
