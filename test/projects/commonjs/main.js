const { mkdtemp, rm } = require("node:fs/promises");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { startRegistration } = require("registrar");
const { startCsiDriver, startKubelet } = require("registrar/testing");

async function main() {
  const folder = await mkdtemp(join(tmpdir(), "csi-"));
  const pluginRegistrationPath = join(folder, "plugins_registry");
  const endpoint = join(folder, "csi.sock");
  const name = "x.csi";

  const kubelet = await startKubelet({ pluginRegistrationPath, reconcilePeriodMs: 20 });
  const driver = await startCsiDriver({ csiAddress: endpoint, name, nodeId: "n1" });
  const registration = await startRegistration({ name, endpoint, pluginRegistrationPath });
  await registration.ready;
  process.stdout.write(`${JSON.stringify(kubelet.csiNode().spec.drivers)}\n`);
  await registration.close();
  await kubelet.deregistered(name);
  await driver.close();
  await kubelet.close();
  await rm(folder, { recursive: true });
}

void main();
