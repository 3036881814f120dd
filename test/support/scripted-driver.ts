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

/** A CSI Identity service that does as it is told; with plain grpc-js, so that nothing of ours answers to ours. */
export interface ScriptedDriver extends AsyncDisposable {
  /** The `:authority` of each GetPluginInfo call so far. */
  readonly authorities: readonly string[];
  /** How many connections are open. */
  openConnections(): number;
  /** Resolves when GetPluginInfo was called this often. */
  called(times: number): Promise<void>;
  /** Ends its connections and goes on listening. */
  endConnections(): void;
  /** Ends as by SIGKILL: connections are cut, the socket file stays. */
  kill(): Promise<void>;
  /** Ends in good order: connections are cut, the socket file is removed. */
  stop(): Promise<void>;
}

/** Starts a driver that gives `answers` in turn, and the last of them from then on. */
export async function startScriptedDriver(
  socketPath: string,
  ...answers: readonly Answer[]
): Promise<ScriptedDriver> {
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
  const kill = () => {
    ending ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
      grpc.forceShutdown();
    });
    return ending;
  };
  const stop = () => {
    if (ending === undefined) rmSync(socketPath, { force: true });
    return kill();
  };
  return {
    authorities,
    openConnections: () => sockets.size,
    endConnections: () => {
      for (const socket of sockets) socket.destroy();
    },
    called: (times) =>
      new Promise((resolve) => {
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
