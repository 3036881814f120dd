import type { MethodDefinition, ServerUnaryCall, ServerWritableStream, sendUnaryData } from "@grpc/grpc-js";
import { createGrpcServer } from "../../src/grpc/server";
import { silentLogger } from "../../src/logging/logger";
import {
  createObservedServer,
  listenUntilCrash,
  type ObservedRequest,
} from "../../src/simulator/driver/csi-driver";

/** What a device plugin does otherwise. */
export interface DevicePluginAnswers {
  /** The status of GetDevicePluginOptions. @default OK */
  readonly code?: number;
  /** Ends ListAndWatch at once. @default never */
  readonly endsAtOnce?: boolean;
}

const NOTHING = Buffer.alloc(0);
const method = (name: string, responseStream: boolean): MethodDefinition<object, object> => ({
  path: `/v1beta1.DevicePlugin/${name}`,
  requestStream: false,
  responseStream,
  requestSerialize: () => NOTHING,
  requestDeserialize: () => ({}),
  responseSerialize: () => NOTHING,
  responseDeserialize: () => ({}),
});

/** The smallest device plugin that kubelet can talk to, without devices. */
export async function startFakeDevicePlugin(
  path: string,
  { code, endsAtOnce = false }: DevicePluginAnswers,
  onRequest: (request: ObservedRequest) => void,
) {
  const server = createGrpcServer({
    log: silentLogger,
    newServer: (_publication, client) => {
      const server = createObservedServer(client, onRequest);
      server.addService(
        {
          GetDevicePluginOptions: method("GetDevicePluginOptions", false),
          ListAndWatch: method("ListAndWatch", true),
        },
        {
          GetDevicePluginOptions: (
            _call: ServerUnaryCall<object, object>,
            answer: sendUnaryData<object>,
          ): void => answer(code === undefined ? null : { code, details: "no devices" }, {}),
          ListAndWatch: (stream: ServerWritableStream<object, object>): void => {
            stream.write({});
            if (endsAtOnce) stream.end();
          },
        },
      );
      return server;
    },
  });
  const socket = await listenUntilCrash(path, (connection) => server.accept(connection));
  return {
    connections: () => server.connections.open,
    close: async (): Promise<void> => {
      await socket.crash();
      await server.close({ graceMs: 0 });
    },
  };
}
