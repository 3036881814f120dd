import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeTest, registered } from "./support/node";

const FAILED = "Error retreiving CSI driver name";

nodeTest("a driver that comes later, in a folder that comes later, is registered", async (node) => {
  const csiAddress = join(dirname(node.csiAddress), "plugins", "disk", "csi.sock");
  const kubelet = await node.kubelet();
  const registrar = node.registrar(
    "-v=5",
    `--csi-address=${csiAddress}`,
    `--kubelet-registration-path=${csiAddress}`,
  );
  await registrar.line("Connecting");
  mkdirSync(dirname(csiAddress), { recursive: true });
  await node.driver({ csiAddress });
  expect((await registered(kubelet)).endpoint).toBe(csiAddress);
});

nodeTest("--timeout bounds a call to a driver that hangs, and the next one succeeds", async (node) => {
  await node.driver({ faults: [{ kind: "hang", method: "GetPluginInfo", times: 1 }] });
  const kubelet = await node.kubelet();
  const registrar = node.registrar("--timeout=300ms");
  expect((await registrar.line(FAILED)).fields.err).toMatch(/DEADLINE_EXCEEDED/);
  await registered(kubelet);
});

nodeTest("--driver-timeout ends the wait for a driver: exit code 1", async (node) => {
  const flags = ["--driver-timeout=300ms", `--termination-log=${node.terminationLogPath}`];
  const registrar = node.registrar(...flags);
  expect(await registrar.exit()).toEqual({ code: 1, signal: null });
  const reason = `no answer from the CSI driver on ${node.csiAddress} within the driver timeout of 0.3 s`;
  expect(registrar.stderr).toContain(reason);
  expect(readFileSync(node.terminationLogPath, "utf8")).toContain(reason);
  expect(node.files()).toEqual([]);
});
