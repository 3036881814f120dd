import { EventEmitter, once } from "node:events";
import { rmSync } from "node:fs";
import { Server, ServerCredentials, type sendUnaryData } from "@grpc/grpc-js";
import { type GetPluginInfoResponse, protos } from "../../src/grpc/protos";
import { listenInPlace } from "./foreign-socket";

export type Answer =
  | Partial<GetPluginInfoResponse>
  | { readonly code: number; readonly details?: string }
  | "hang";

export type ScriptedDriver = Awaited<ReturnType<typeof startScriptedDriver>>;

/** A CSI Identity service with plain grpc-js, so that our client is not tested by our server. The last answer stays. */
export async function startScriptedDriver(socketPath: string, ...answers: readonly Answer[]) {
  const { identity } = protos;
  const authorities: string[] = [];
  const news = new EventEmitter();

  const grpc = new Server();
  grpc.addService(
    { GetPluginInfo: identity.GetPluginInfo },
    {
      GetPluginInfo: (call: { getHost(): string }, callback: sendUnaryData<GetPluginInfoResponse>) => {
        const answer = answers[Math.min(authorities.length, answers.length - 1)] ?? "hang";
        authorities.push(call.getHost());
        news.emit("call");
        if (answer === "hang") return;
        if ("code" in answer) callback({ code: answer.code, details: answer.details ?? "as scripted" });
        else callback(null, { name: "", vendorVersion: "v1", manifest: {}, ...answer });
      },
    },
  );
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = await listenInPlace(socketPath, (socket) => injector.injectConnection(socket));

  let isEnding = false;
  /** Ends as by SIGKILL: connections are cut, the socket file stays. */
  const kill = (): Promise<void> => {
    isEnding = true;
    grpc.forceShutdown();
    return listener.kill();
  };
  /** Ends in good order: connections are cut, the socket file is removed. */
  const stop = (): Promise<void> => {
    if (!isEnding) rmSync(socketPath, { force: true });
    return kill();
  };
  return {
    ...listener,
    authorities: authorities as readonly string[],
    called: async (times: number): Promise<void> => {
      while (authorities.length < times) await once(news, "call");
    },
    kill,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
