import { resolve } from "node:path";
import { type Client, connectivityState } from "@grpc/grpc-js";
import { RegistrarError } from "../base/errors";
import { createOwningClient } from "../grpc/client/owned-connections";

/**
 * A client that sends the `:authority` that a kubelet of some version would send. Node's HTTP/2 *client* accepts any
 * text there, also a raw path; only its server rejects one. It still differs from grpc-go in the user agent
 * (`grpc-node-js/...`) and in two headers about compression. After a failure it connects again as grpc-go does: in 1 s,
 * then 1.6 times longer each time. A relative path is relative to `/`, where kubelet runs.
 */
export function createKubeletClient(socketPath: string, authority: string): Client {
  return createOwningClient(resolve("/", socketPath), { "grpc.default_authority": authority });
}

/**
 * Resolves when the server's first HTTP/2 frame arrives, as grpc-go's blocking dial does; until then it dials a socket
 * without a listener again and again. Rejects with ABORTED after `timeoutMs` or when aborted.
 */
export function connected(client: Client, timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const channel = client.getChannel();
    const deadline = Date.now() + timeoutMs;
    const giveUp = (why: string) => reject(new RegistrarError("ABORTED", why));
    if (signal.aborted) return giveUp("context canceled");
    const cancel = () => giveUp("context canceled");
    signal.addEventListener("abort", cancel, { once: true });
    // Not `waitForReady`: it looks once more after the channel was closed, which makes grpc-js (1.14) dial again.
    const look = (late?: Error) => {
      if (signal.aborted) return;
      const state = late ? undefined : channel.getConnectivityState(true);
      if (state !== undefined && state !== connectivityState.READY)
        return channel.watchConnectivityState(state, deadline, look);
      signal.removeEventListener("abort", cancel);
      if (late) giveUp("context deadline exceeded");
      else resolve();
    };
    look();
  });
}
