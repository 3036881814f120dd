import type { Socket } from "node:net";
import { type ChannelOptions, Client, credentials } from "@grpc/grpc-js";
import { guardFromServer } from "../guard/server-guard";

/**
 * A client of one unix socket, without retries. `close` ends its connections, also one that is just being made, whatever the
 * server does; what the client has sent by then still arrives.
 *
 * grpc-js (1.14) does not: when a client is closed it forgets the connection to a server that never speaks or never hangs
 * up, and the file descriptor stays. It has no option for the socket, so this replaces the undocumented function that makes
 * its connectors; package.json takes no other minor version of it unseen.
 */
export function createOwningClient(socketPath: string, options: ChannelOptions): Client {
  const open = new Set<Socket>();
  let isClosed = false;
  const insecure = credentials.createInsecure();
  const createConnector = insecure._createSecureConnector.bind(insecure);
  insecure._createSecureConnector = (...args) => {
    const connector = createConnector(...args);
    const connect = (socket: Socket) => {
      if (isClosed) socket.destroy();
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      // grpc-js gives it to http2, which takes any stream.
      return connector.connect(guardFromServer(socket) as Socket);
    };
    return { ...connector, connect };
  };
  const client = new Client(`unix:${socketPath}`, insecure, {
    "grpc.enable_channelz": 0,
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.use_local_subchannel_pool": 1,
    ...options,
  });
  const close = client.close.bind(client);
  client.close = () => {
    close();
    isClosed = true;
    setImmediate(() => {
      for (const socket of open) socket.destroy();
    });
  };
  return client;
}
