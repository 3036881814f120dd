import { dirname } from "node:path";
import { attempt } from "../../base/errors";
import type { GuardedClient } from "../../grpc/guard/guards";

type Client = Pick<GuardedClient, "socket" | "authority">;
export type KubeletClients = ReturnType<typeof createKubeletClients>;

/**
 * Knows kubelet among the clients of a registration socket. Kubelet alone reports a registration status; the client that did so
 * tells what kubelet sends as `:authority`: the path of the socket on the host, of which the directory stays the same. From
 * then on GetInfo of any other client (grpcurl, another registrar's probe) counts for nothing. Before, each may be kubelet's.
 */
export function createKubeletClients() {
  /** The connections over which kubelet called GetInfo and has not reported a status. */
  const asking = new Set<Client>();
  /** Whose end is listened for: a connection may carry any number of calls. */
  const followed = new WeakSet<Client>();
  const listeners = new Set<() => void>();
  let known: string | undefined;
  let endedAtMs = 0;

  const isKubelet = (client: Client) => known === undefined || known === directoryIn(client.authority());
  return {
    isKubelet,
    /** The client called GetInfo, and got an answer. */
    asked: (client: Client): void => {
      if (!isKubelet(client) || client.socket.destroyed) return;
      asking.add(client);
      if (followed.has(client)) return;
      followed.add(client);
      client.socket.once("close", () => {
        if (!asking.delete(client)) return;
        endedAtMs = performance.now();
        for (const listener of listeners) listener();
      });
    },
    /** The client reported a registration status. */
    reported: (client: Client): void => {
      known = directoryIn(client.authority());
      asking.delete(client);
      for (const other of asking) if (!isKubelet(other)) asking.delete(other);
    },
    get isAsking() {
      return asking.size > 0;
    },
    /** When kubelet last ended a connection without a status, in milliseconds of `performance.now()`. */
    get endedAtMs() {
      return endedAtMs;
    },
    /** Calls `listener` at each such end; the function returned ends that. */
    onEnd: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * The directory of a socket's path in an `:authority`: encoded by grpc-go since 1.57, raw before; `.` of a word such as
 * `localhost`.
 */
function directoryIn(authority = ""): string {
  return dirname(attempt(() => decodeURIComponent(authority)) ?? authority);
}
