import { callUnary, createUnixClient } from "../../src/grpc/client/unary";
import { type PluginInfo, protos } from "../../src/grpc/protos";

const CALL_LIMIT_MS = 5_000;

/** Makes kubelet's end of one connection to a registration socket; it connects with the first call. */
export function dialRegistration(socketPath: string, authority = encodeURIComponent(socketPath)) {
  const { GetInfo, NotifyRegistrationStatus } = protos.registration;
  const client = createUnixClient(socketPath, { "grpc.default_authority": authority });
  return {
    getInfo: () => callUnary(client, GetInfo, {}, { timeoutMs: CALL_LIMIT_MS }),
    /** Says that the driver is registered, or with `error` that it is not. Resolves when that was answered. */
    notify: async (error = ""): Promise<void> => {
      const status = { pluginRegistered: error === "", error };
      await callUnary(client, NotifyRegistrationStatus, status, { timeoutMs: CALL_LIMIT_MS });
    },
    [Symbol.dispose]: () => client.close(),
  };
}

/** Does what kubelet does with a registration socket: asks, decides, tells. Answers what the plugin said of itself. */
export async function registerOnce(socketPath: string, error?: string): Promise<PluginInfo> {
  using kubelet = dialRegistration(socketPath);
  const info = await kubelet.getInfo();
  await kubelet.notify(error);
  return info;
}
