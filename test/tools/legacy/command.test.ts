import { type CsiDriverOptions, startCsiDriver } from "../../../src/testing";
import { startForeignSocket } from "../../support/foreign-socket";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";
import { startCommand } from "../support/command";

async function legacy(driver: Partial<CsiDriverOptions>, ...flags: readonly string[]) {
  await using folder = await createTempFolder();
  const csiAddress = folder.at("csi.sock");
  await using started = await startCsiDriver({ csiAddress, name: "x.csi", nodeId: "n7", ...driver });
  const said = await runCommand("legacy", "--csi-address", csiAddress, ...flags);
  for (const event of started.events.history())
    if (event.kind === "called") expect(event.authority).toBe(csiAddress);
  return said;
}

test("node-register annotates the Node with the driver's node ID", async () => {
  const { stdout } = await legacy({}, "-o", "json", "--node", "worker-3");
  expect(JSON.parse(stdout)).toMatchObject({
    kind: "Node",
    metadata: {
      name: "worker-3",
      labels: { "kubernetes.io/hostname": "worker-3" },
      annotations: { "csi.volume.kubernetes.io/nodeid": '{"x.csi":"n7"}' },
    },
  });
});

test("kubernetes-register creates the CSIDriver of that time", async () => {
  const { stdout } = await legacy({}, "-o", "json", "--mode", "kubernetes-register");
  expect(JSON.parse(stdout)).toEqual({
    apiVersion: "csi.storage.k8s.io/v1alpha1",
    kind: "CSIDriver",
    metadata: { name: "x.csi" },
    spec: { attachRequired: true, podInfoOnMountVersion: "" },
  });
});

test.each([[[]], [["-o", "yaml"]]])("prints YAML with %j", async (flags) => {
  expect(await legacy({}, ...flags)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^kind: Node$/m),
  });
});

test("a driver without the calls is an error of one line", async () => {
  const fails = { kind: "error", method: "NodeGetInfo", code: "UNAVAILABLE", message: "not yet" } as const;
  const stderr = expect.stringMatching(/^registrar legacy: the CSI driver did not answer: .*not yet\n$/);
  expect(await legacy({ faults: [fails] })).toMatchObject({ status: 1, stderr });
});

test("a signal ends it with 0 while the driver does not answer", async () => {
  await using folder = await createTempFolder();
  const csiAddress = folder.at("csi.sock");
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await using _silent = await startForeignSocket(csiAddress, () => answer());
  using command = startCommand(["legacy", "--csi-address", csiAddress]);
  await asked;
  expect([await command.end("SIGTERM"), command.lines, command.stderr]).toEqual([0, [], ""]);
});
