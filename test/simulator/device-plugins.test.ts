import { eachTest } from "../support/each-test";
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
