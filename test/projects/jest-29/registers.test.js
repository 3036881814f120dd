const { mkdtemp, rm } = require("node:fs/promises");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { startRegistrar } = require("registrar");
const { startCsiDriver, startKubelet } = require("registrar/testing");

test("kubelet registers our driver", async () => {
  const folder = await mkdtemp(join(tmpdir(), "csi-"));
  const pluginRegistrationPath = join(folder, "plugins_registry");
  const csiAddress = join(folder, "csi.sock");
  const name = "x.csi";

  const kubelet = await startKubelet({ pluginRegistrationPath, reconcilePeriodMs: 20 });
  const driver = await startCsiDriver({ csiAddress, name, nodeId: "n1" });
  const paths = { csiAddress, endpoint: csiAddress, pluginRegistrationPath };
  const registrar = await startRegistrar(paths);
  await registrar.ready;
  expect(kubelet.csiNode().spec.drivers).toEqual([{ name, nodeID: "n1", topologyKeys: [] }]);
  await registrar.close();
  await kubelet.deregistered(name);
  await driver.close();
  await kubelet.close();
  await rm(folder, { recursive: true });
});
