import type { Socket } from "node:net";
import { type ChannelOptions, Client, credentials } from "@grpc/grpc-js";
import { guardConnection } from "./guarded-connection";

/** A client of one unix socket, without retries. When it is closed its connections end, whatever the server does. */
export function createOwningClient(socketPath: string, options: ChannelOptions): Client {
  const connections = createOwnedConnections();
  const client = new Client(`unix:${socketPath}`, connections.credentials, {
    "grpc.enable_channelz": 0,
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.use_local_subchannel_pool": 1,
    ...options,
  });
  const close = client.close.bind(client);
  client.close = () => {
    close();
    connections.end();
  };
  return client;
}

/**
 * Keeps hold of the sockets of a gRPC client, for its owner to end, and lets `guardConnection` guard them.
 * grpc-js (1.14) does not: of a server that accepts and never speaks, or that never hangs up, it forgets the connection
 * when the client is closed, and its file descriptor stays for good. What makes its connectors is no part of its
 * documentation, so package.json takes no other minor version of it unseen.
 */
function createOwnedConnections() {
  const open = new Set<Socket>();
  let ended = false;
  const insecure = credentials.createInsecure();
  const createConnector = insecure._createSecureConnector.bind(insecure);

  insecure._createSecureConnector = (...args) => {
    const connector = createConnector(...args);
    const connect = (socket: Socket) => {
      if (ended) socket.destroy();
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      // grpc-js gives it to http2, which takes any stream.
      return connector.connect(guardConnection(socket, "server") as Socket);
    };
    return { ...connector, connect };
  };

  return {
    /** To be given to the client: plaintext. */
    credentials: insecure,
    /** Ends all connections, those that are just being made too. What the client has said by then is still sent. */
    end: (): void => {
      ended = true;
      setImmediate(() => {
        for (const socket of open) socket.destroy();
      });
    },
  };
}
