import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Registration, startRegistration } from "registrar";
import { startCsiDriver, startKubelet } from "registrar/testing";

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "csi-"));
  const pluginRegistrationPath = join(folder, "plugins_registry");
  const endpoint = join(folder, "csi.sock");
  const name = "x.csi";

  await using kubelet = await startKubelet({ pluginRegistrationPath, reconcilePeriodMs: 20 });
  await using _driver = await startCsiDriver({ csiAddress: endpoint, name, nodeId: "n1" });
  const registration: Registration = await startRegistration({ name, endpoint, pluginRegistrationPath });
  await registration.ready;
  process.stdout.write(`${JSON.stringify(kubelet.csiNode().spec.drivers)}\n`);
  await registration.close();
  await kubelet.deregistered(name);
  await rm(folder, { recursive: true });
}

void main();
