import type { SimulatedKubelet } from "../../src/simulator/kubelet/kubelet";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { createTestNode } from "../support/registrar-node";
import { startFakeDevicePlugin } from "./fake-device-plugin";
import { startFakeRegistrar } from "./fake-registrar";

const node = eachTest(createTestNode);

test("a device plugin that registers at another socket ends kubelet's connection to the former one", async () => {
  const kubelet = await node.kubelet();
  const started: { close(): Promise<void> }[] = [];
  for (const file of ["former", "latter"]) {
    const endpoint = `${node.csiAddress}-${file}`;
    started.push(await startFakeDevicePlugin(endpoint, {}, () => {}));
    const info = {
      ...{ type: "DevicePlugin", name: "example.com/gpu" },
      ...{ endpoint, supportedVersions: ["v1beta1"] },
    };
    const registrar = await startFakeRegistrar({ socketPath: node.socketPath(file), info });
    started.push(registrar);
    await registrar.events.when("notified");
  }
  const { socketPath } = await kubelet.events.when("called", {
    where: ({ call }) => call === "ListAndWatch",
  });
  expect(socketPath).toBe(`${node.csiAddress}-former`);
  expect(kubelet.events.history("deregistered")).toEqual([]);
  for (const one of started) await one.close();
});

test("a device plugin whose resource has no domain is refused", async () => {
  const kubelet = await node.kubelet();
  const endpoint = `${node.csiAddress}-gpu`;
  const info = { type: "DevicePlugin", name: "gpu", endpoint, supportedVersions: ["v1beta1"] };
  await using registrar = await startFakeRegistrar({ socketPath: node.socketPath("gpu"), info });
  const { error } = await registrar.events.when("notified");
  expect(error).toContain('the ResourceName "gpu" is invalid');
  expect(kubelet.events.history("registered")).toEqual([]);
});

type End = (kubelet: SimulatedKubelet, registrar: AsyncDisposable, gone: () => Promise<void>) => unknown;
test.each<[string, endsAtOnce: boolean, end: End]>([
  ["is deregistered", false, (_kubelet, registrar) => registrar[Symbol.asyncDispose]()],
  ["ends its list of devices", true, () => {}],
  ["is left by a kubelet that ends", false, (kubelet) => kubelet.close()],
  ["is left by a kubelet that restarts", false, (kubelet, _, whileDown) => kubelet.restart({ whileDown })],
])("kubelet keeps no connection to a device plugin that %s", async (what, endsAtOnce, end) => {
  const kubelet = await node.kubelet();
  const plugin = await startFakeDevicePlugin(node.csiAddress, { endsAtOnce }, () => {});
  await using _end = { [Symbol.asyncDispose]: plugin.close };
  const { csiAddress: endpoint } = node;
  const info = { type: "DevicePlugin", name: "example.com/gpu", endpoint, supportedVersions: ["v1beta1"] };
  await using registrar = await startFakeRegistrar({ socketPath: node.socketPath("gpu"), info });
  await kubelet.registered("example.com/gpu");
  const gone = () => eventually(() => expect(plugin.connections()).toBe(0));
  await end(kubelet, registrar, gone);
  if (!what.endsWith("restarts")) await gone();
});
