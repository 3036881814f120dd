import { resolve } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import { RegistrarError } from "../errors";

/**
 * A client that sends the `:authority` that a kubelet of some version would send. Node's HTTP/2 *client* accepts any
 * text there, also a raw path; only its server rejects one. It still differs from grpc-go in the user agent
 * (`grpc-node-js/...`) and in two headers about compression. After a failure it connects again as grpc-go does: in 1 s,
 * then 1.6 times longer each time. A relative path is relative to `/`, where kubelet runs.
 */
export function createKubeletClient(socketPath: string, authority: string): Client {
  return new Client(`unix:${resolve("/", socketPath)}`, credentials.createInsecure(), {
    "grpc.default_authority": authority,
    "grpc.enable_channelz": 0,
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.use_local_subchannel_pool": 1,
  });
}

/**
 * Resolves when the server's first HTTP/2 frame arrives, as grpc-go's blocking dial does; until then it tries a socket
 * that nobody listens on again. Rejects with ABORTED after `timeoutMs` or when aborted.
 */
export function connected(client: Client, timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new RegistrarError("ABORTED", "context canceled"));
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    client.waitForReady(Date.now() + timeoutMs, (error) => {
      signal.removeEventListener("abort", giveUp);
      if (error) reject(new RegistrarError("ABORTED", "context deadline exceeded"));
      else resolve();
    });
  });
}
