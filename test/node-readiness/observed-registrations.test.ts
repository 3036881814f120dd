import { observeRegistrations } from "../../src/node-readiness/observed-registrations";
import { startNodeReadiness } from "../../src/node-readiness/start-node-readiness";
import { startRegistration } from "../../src/registrar/start-registration";
import { eachTest } from "../support/each-test";
import { createFleetNode, startTestFleet } from "../support/fleet-node";
import { createTestNode } from "../support/registrar-node";

const node = eachTest(createFleetNode);

test("a driver that the lists of names keep out is nobody's here: its own registrar has the say", async () => {
  await using started = await startTestFleet(node, { names: { deny: ["a.csi"] } });
  await node.driver("a.csi");
  await started.log.when("CSI driver is excluded by the name lists");
  expect(started.fleet.all[0]?.status()).toMatchObject({ identity: { name: "a.csi" }, state: "waiting" });
  expect(observeRegistrations(started.fleet)?.all()).toMatchObject([
    { state: "waiting", driverName: undefined },
  ]);
});

test("of a node-wide registrar each taint and the condition must name their driver", async () => {
  await using started = await startTestFleet(node);
  const registrations = started.fleet;
  const access = { server: "https://127.0.0.1:1", authority: undefined };
  const options = { registrations, nodeName: "n", access, condition: "Ready1" };
  await expect(startNodeReadiness(options)).rejects.toThrow(/"Ready1" would be the same for sev/);
});

test("of two drivers with one name the one that has it counts, also where it was found later", async () => {
  await using started = await startTestFleet(node);
  const b = await node.driver("b", "hang", { name: "one.csi" });
  await b.called(1);
  await node.driver("a", { name: "one.csi" });
  await started.register("one.csi");
  await started.state("a", "registered");
  b.endConnections();
  await started.log.when("Another CSI driver on this node has the name, waiting");
  const names = () =>
    observeRegistrations(started.fleet)
      ?.all()
      .map(({ driverName }) => driverName);
  expect(names()).toEqual([undefined, "one.csi"]);
});

test("plugins that CSINode does not list are not looked for in it", async () => {
  await using plugin = await createTestNode();
  const { csiAddress: endpoint, pluginDir: pluginRegistrationPath } = plugin;
  const supportedVersions = ["v1.DRAPlugin"] as const;
  const options = { name: "gpu.example.com", supportedVersions, endpoint, pluginRegistrationPath };
  const registration = plugin.keep(await startRegistration({ type: "DRAPlugin", ...options }));
  expect(observeRegistrations(registration)?.all()).toMatchObject([{ reregister: undefined }]);
});
