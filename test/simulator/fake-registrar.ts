import { unaryHandler } from "../../src/grpc/handlers";
import { type PluginInfo, protos, type RegistrationStatus } from "../../src/grpc/protos";
import { createGrpcServer } from "../../src/grpc/server";
import { silentLogger } from "../../src/logging/logger";
import {
  createObservedServer,
  listenUntilCrash,
  type ObservedRequest,
} from "../../src/simulator/driver/csi-driver";
import { createEventLog } from "../../src/simulator/event-stream";

type FakeRegistrarEvent = { readonly atMs: number } & (
  | ({ readonly kind: "called" } & ObservedRequest)
  | { readonly kind: "notified"; readonly registered: boolean; readonly error: string }
  | { readonly kind: "left" }
);

export interface FakeRegistrarOptions {
  readonly socketPath: string;
  readonly info: Partial<PluginInfo>;
  /** GetInfo's answer as bytes, in place of `info`. */
  readonly rawInfo?: Buffer;
  /** Initial metadata of GetInfo's answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What happens before the answer; the call fails with what it throws. */
  readonly before?: (method: "GetInfo" | "NotifyRegistrationStatus", cut: () => void) => unknown;
}

/** The smallest plugin that kubelet can talk to, and it tells what kubelet said. */
export async function startFakeRegistrar(options: FakeRegistrarOptions) {
  const { socketPath, rawInfo, headers = {}, before = () => {} } = options;
  const { NotifyRegistrationStatus } = protos.registration;
  const GetInfo = { ...protos.registration.GetInfo, ...(rawInfo && { responseSerialize: () => rawInfo }) };
  const log = createEventLog<FakeRegistrarEvent>("the fake registrar", {
    called: true,
    notified: true,
    left: true,
  });
  const info = {
    type: "CSIPlugin",
    name: "x.csi",
    endpoint: "",
    supportedVersions: ["1.0.0"],
    ...options.info,
  };
  const cut = () => socket.crash();
  const server = createGrpcServer({
    log: silentLogger,
    newServer: (_publication, client) => {
      const server = createObservedServer(client, (request) => log.append({ kind: "called", ...request }));
      server.addService(
        { GetInfo, NotifyRegistrationStatus },
        {
          GetInfo: unaryHandler<object, PluginInfo>(async (_request, { sendMetadata }) => {
            await before("GetInfo", cut);
            sendMetadata(headers);
            return info;
          }),
          NotifyRegistrationStatus: unaryHandler<RegistrationStatus, object>(async (status) => {
            log.append({ kind: "notified", registered: status.pluginRegistered, error: status.error });
            await before("NotifyRegistrationStatus", cut);
            return {};
          }),
        },
      );
      return server;
    },
  });
  const socket = await listenUntilCrash(socketPath, (connection) => {
    connection.once("close", () => log.append({ kind: "left" }));
    server.accept(connection);
  });
  const close = async (): Promise<void> => {
    await socket.withdraw();
    await server.close({ graceMs: 0 });
  };
  return {
    events: log.stream,
    close,
    crash: async (): Promise<void> => {
      await socket.crash();
      await server.close({ graceMs: 0 });
    },
    [Symbol.asyncDispose]: close,
  };
}
