import { basename, dirname } from "node:path";
import { attempt } from "../../base/errors";
import type { GuardedClient } from "../../grpc/guard/guards";

type Client = Pick<GuardedClient, "socket" | "authority">;
export type KubeletClients = ReturnType<typeof createKubeletClients>;

/**
 * Knows kubelet among the clients of a registration socket. Kubelet alone reports a registration status; the client that did so
 * tells what kubelet sends as `:authority`: the path of the socket on the host, of which the directory stays the same. From
 * then on GetInfo of any other client (grpcurl, another registrar's probe) counts for nothing. Before, each may be kubelet's,
 * but only a client that sends the socket's name is waited for, as every kubelet since 1.20 does.
 */
export function createKubeletClients() {
  /** The connections over which kubelet called GetInfo and has not reported a status. */
  const asking = new Set<Client>();
  const listeners = new Set<() => void>();
  let known: string | undefined;
  let endedAtMs = 0;

  const isKubelet = (client: Client) => known === undefined || known === dirname(pathIn(client));
  const isLikely = (client: Client, path: string) =>
    known === undefined ? basename(pathIn(client)) === basename(path) : isKubelet(client);
  return {
    isKubelet,
    /** Whether a client of the socket at `path` is waited for. */
    isLikely,
    /** The client called GetInfo over the socket at `path`, and got an answer. */
    asked: (client: Client, path: string): void => {
      if (isLikely(client, path) && !client.socket.destroyed) asking.add(client);
    },
    /** The client's connection has ended. */
    ended: (client: Client): void => {
      if (!asking.delete(client)) return;
      endedAtMs = performance.now();
      for (const listener of listeners) listener();
    },
    /** The client reported a registration status. */
    reported: (client: Client): void => {
      known = dirname(pathIn(client));
      asking.delete(client);
      for (const other of asking) if (!isKubelet(other)) asking.delete(other);
    },
    /** Whether a registration status has told which clients are kubelet. */
    get isKnown() {
      return known !== undefined;
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

/** The socket's path in a client's `:authority`, which grpc-go encodes since 1.57; another client may send `localhost`. */
function pathIn(client: Client): string {
  const authority = client.authority() ?? "";
  return attempt(() => decodeURIComponent(authority)) ?? authority;
}
