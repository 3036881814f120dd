import { getEventListeners } from "node:events";
import { startRegistration } from "../src/registrar/start-registration";
import { startCsiDriver } from "../src/simulator/csi-driver";
import { startKubelet } from "../src/simulator/kubelet";
import { createNodeFolder } from "./support/node-folder";

// Node 20 warns of a leak when a signal has eleven listeners.
test("one signal ends any number of parts, and has no listener for each", async () => {
  await using folder = await createNodeFolder();
  const { pluginDir: pluginRegistrationPath } = folder;
  const stop = new AbortController();
  const { signal } = stop;
  const kubelet = await startKubelet({ pluginRegistrationPath, signal });
  const waits = [];
  const parts = [];
  for (let i = 0; i < 11; i++) {
    const csiAddress = folder.at(`${i}.sock`);
    await startCsiDriver({ csiAddress, name: "x.csi", signal });
    const options = { name: `${i}.csi`, endpoint: csiAddress, pluginRegistrationPath, signal };
    parts.push(await startRegistration({ ...options, onRegistrationFailure: "retry" }));
    waits.push(kubelet.registered("nobody", { signal }));
  }
  expect(getEventListeners(signal, "abort")).toEqual([]);
  stop.abort("the end");
  for (const { closed } of parts) expect(await closed).toEqual({ kind: "stopped" });
  for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: "ABORTED", cause: "the end" });
  await kubelet.close();
});
