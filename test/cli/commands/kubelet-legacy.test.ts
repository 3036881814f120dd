import { startCsiDriver } from "../../../src/testing";
import { createTempFolder } from "../../support/temp-folder";
import { type RunningCommand, startCommand } from "./support/command";

/** A driver-registrar of 2018 beside a driver. */
async function withLegacy(
  mode: string,
  flags: readonly string[],
  use: (legacy: RunningCommand) => Promise<void>,
): Promise<void> {
  await using folder = await createTempFolder();
  const csiAddress = folder.at("csi.sock");
  await using _driver = await startCsiDriver({ csiAddress, name: "x.csi", nodeId: "n7" });
  using legacy = startCommand(["kubelet", "--legacy", mode, "--csi-address", csiAddress, ...flags]);
  await use(legacy);
}

const annotation = '{"x.csi":"n7"}';

test("node-register asks the driver for its node ID, annotates the Node, and takes that back on SIGINT", () =>
  withLegacy("node-register", ["--output", "json"], async (legacy) => {
    await legacy.object("node-changed");
    expect(await legacy.end("SIGINT")).toBe(0);
    expect(legacy.lines.map((line) => JSON.parse(line))).toMatchObject([
      { kind: "started", mode: "node-register" },
      { kind: "called", call: "GetPluginInfo", answer: "x.csi" },
      { kind: "called", call: "NodeGetInfo", answer: "n7" },
      {
        kind: "node-changed",
        node: { metadata: { annotations: { "csi.volume.kubernetes.io/nodeid": annotation } } },
      },
      { kind: "node-changed", node: { metadata: { annotations: {} } } },
    ]);
  }));

test("kubernetes-register creates a CSIDriver and asks for no node ID; SIGTERM leaves it, as it did", () =>
  withLegacy("kubernetes-register", [], async (legacy) => {
    await legacy.line(/^apiVersion: csi\.storage\.k8s\.io\/v1alpha1$/);
    await legacy.line(/podInfoOnMountVersion/);
    expect(await legacy.end("SIGTERM")).toBe(0);
    expect(legacy.lines.join("\n")).not.toContain("NodeGetInfo");
    expect(legacy.lines.at(-1)).toMatch(/^What was written stays/);
  }));

test("SIGTERM ends the wait for a driver", async () => {
  await using folder = await createTempFolder();
  const flags = ["--legacy", "node-register", "--csi-address", folder.at("csi.sock")];
  using legacy = startCommand(["kubelet", ...flags]);
  await legacy.line(/waits for the driver on/);
  expect(await legacy.end("SIGTERM")).toBe(0);
});
