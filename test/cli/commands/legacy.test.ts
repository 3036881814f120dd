import { startCsiDriver } from "../../../src/testing";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";
import { startCommand } from "./support/command";

/** What the command prints in JSON, beside a driver. */
async function legacyJson(...flags: readonly string[]): Promise<unknown> {
  await using folder = await createTempFolder();
  const csiAddress = folder.at("csi.sock");
  await using _driver = await startCsiDriver({ csiAddress, name: "x.csi", nodeId: "n7" });
  using legacy = startCommand(["legacy", "--csi-address", csiAddress, "-o", "json", ...flags]);
  expect(await legacy.exitCode()).toBe(0);
  return JSON.parse(legacy.lines.join("\n"));
}

test("node-register annotates the Node with the driver's node ID", async () => {
  expect(await legacyJson("--node", "worker-3")).toMatchObject({
    kind: "Node",
    metadata: {
      name: "worker-3",
      annotations: { "csi.volume.kubernetes.io/nodeid": '{"x.csi":"n7"}' },
    },
  });
});

test("kubernetes-register creates the CSIDriver of that time", async () => {
  expect(await legacyJson("--mode", "kubernetes-register")).toEqual({
    apiVersion: "csi.storage.k8s.io/v1alpha1",
    kind: "CSIDriver",
    metadata: { name: "x.csi" },
    spec: { attachRequired: true, podInfoOnMountVersion: "" },
  });
});

test("prints YAML if nothing else is asked for", async () => {
  await using folder = await createTempFolder();
  const csiAddress = folder.at("csi.sock");
  await using _driver = await startCsiDriver({ csiAddress, name: "x.csi", nodeId: "n7" });
  using legacy = startCommand(["legacy", "--csi-address", csiAddress]);
  expect(await legacy.exitCode()).toBe(0);
  expect(legacy.lines).toContain("kind: Node");
});

test("a driver without the calls is an error of one line", async () => {
  await using folder = await createTempFolder();
  const csiAddress = folder.at("csi.sock");
  await using _driver = await startCsiDriver({
    csiAddress,
    name: "x.csi",
    faults: [{ kind: "error", method: "NodeGetInfo", code: "UNAVAILABLE", message: "not yet" }],
  });
  using legacy = startCommand(["legacy", "--csi-address", csiAddress]);
  expect(await legacy.exitCode()).toBe(1);
  expect(legacy.stderr).toMatch(/^registrar legacy: the CSI driver did not answer: .*not yet\n$/);
});

test("it needs a driver's address", async () => {
  expect(await runCommand("legacy")).toMatchObject({ status: 2, stdout: "" });
});
