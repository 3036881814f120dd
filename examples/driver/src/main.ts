import { hostname } from "node:os";
import { NAME, startScratchDriver } from "./driver.ts";

const { env } = process;
const kubelet = env.KUBELET_ROOT ?? "/var/lib/kubelet";
const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());

const driver = await startScratchDriver({
  csiAddress: env.CSI_ADDRESS ?? "/csi/csi.sock",
  endpoint: env.ENDPOINT ?? `${kubelet}/plugins/${NAME}/csi.sock`,
  pluginRegistrationPath: env.PLUGIN_REGISTRATION_PATH ?? "/registration",
  nodeId: env.NODE_ID ?? hostname(),
  podsDirectory: `${kubelet}/pods`,
  signal: stop.signal,
  logger: console,
});
const outcome = await driver.closed;
if (outcome.kind === "failed") throw outcome.error;
