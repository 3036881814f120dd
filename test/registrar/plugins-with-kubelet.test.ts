import { rmSync } from "node:fs";
import type { RegistrationOptions } from "../../src/registrar/model/library-options";
import { startRegistration } from "../../src/registrar/start-registration";
import { startFakeDevicePlugin } from "../simulator/fake-device-plugin";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { PATIENCE_MS } from "../support/history";
import { createTestNode } from "../support/registrar-node";
import { untilNotified } from "../support/until-notified";

// Kubelet's other plugins, from publishing to standing by: all that a CSI driver's registration does for it.

type Plugin = Pick<RegistrationOptions, "name"> & {
  readonly type: "DRAPlugin" | "DevicePlugin";
  readonly supportedVersions: [string, ...string[]];
  readonly file: string;
};

const DRA: Plugin = {
  type: "DRAPlugin",
  name: "gpu.example.com",
  supportedVersions: ["v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth"],
  file: "gpu.example.com_dra",
};
const DEVICE: Plugin = {
  type: "DevicePlugin",
  name: "example.com/gpu",
  supportedVersions: ["v1beta1"],
  file: "example.com_gpu_device",
};

const node = eachTest(createTestNode);

const start = async ({ file: _, ...plugin }: Plugin, options: Partial<RegistrationOptions> = {}) =>
  node.keep(
    await startRegistration({
      ...plugin,
      endpoint: node.csiAddress,
      pluginRegistrationPath: node.pluginDir,
      timeoutMs: PATIENCE_MS,
      ...options,
    } as RegistrationOptions),
  );

describe.each([
  ["DRA driver", DRA, "1.36"],
  ["device plugin", DEVICE, "1.20"],
] as const)("a %s (%j) at kubelet %s", (_what, plugin, version) => {
  const { type, name, file } = plugin;

  test("is registered by its type and endpoint, again after its socket was removed, and deregistered in the end", async () => {
    const kubelet = await node.kubelet({ version });
    const called: string[] = [];
    const plugged = await startFakeDevicePlugin(node.csiAddress, {}, ({ method }) => called.push(method));
    await using _end = { [Symbol.asyncDispose]: plugged.close };
    const registration = await start(plugin);
    await registration.ready;
    expect(await kubelet.registered(name)).toMatchObject({ pluginType: type, endpoint: node.csiAddress });
    const calls = type === "DevicePlugin" ? ["GetDevicePluginOptions", "ListAndWatch"] : [];
    await eventually(() => expect(called).toEqual(calls));
    expect(kubelet.csiNode().spec.drivers).toEqual([]);
    expect(await registration.selfCheck()).toEqual({ kind: "ok" });
    expect(registration.status()).toMatchObject({ connected: true, trouble: undefined });
    const gone = kubelet.events.when("deregistered", { from: "now" });
    rmSync(`${node.pluginDir}/${file}-reg.sock`);
    await gone;
    await untilNotified(kubelet, await kubelet.registered(name));
    await registration.close();
    await kubelet.deregistered(name);
  });
});

test("two instances of a DRA driver are registered side by side, and the end of one leaves the other's", async () => {
  const kubelet = await node.kubelet({ version: "1.36" });
  const startOne = async (instance: string) => {
    const one = await start(DRA, { instance, endpoint: `${node.pluginDir}/../dra-${instance}.sock` });
    await one.ready;
    return one;
  };
  const former = await startOne("old");
  const latter = await startOne("new");
  expect(kubelet.events.history("deregistered")).toEqual([]);
  expect([former, latter].map((one) => one.status().state)).toEqual(["registered", "registered"]);
  const gone = kubelet.deregistered(DRA.name);
  await former.close();
  await kubelet.events.when("operation-started", { where: ({ operation }) => operation === "deregister" });
  expect(await kubelet.registered(DRA.name)).toMatchObject({ endpoint: latter.endpoint });
  expect(kubelet.events.history("deregistered")).toEqual([]);
  expect(latter.status()).toMatchObject({ state: "registered", counters: { accepted: 1 } });
  expect(await latter.selfCheck()).toEqual({ kind: "ok" });
  await latter.close();
  await gone;
});

test("a CSI driver and a device plugin have no instances", async () => {
  const message =
    "startRegistration: instance is for type DRAPlugin; kubelet keeps one DevicePlugin of a name";
  await expect(start(DEVICE, { instance: "old" })).rejects.toMatchObject({ code: "INVALID_OPTION", message });
});

test.each<[Plugin, version: "1.28" | "1.36", reason: string]>([
  [
    { ...DRA, supportedVersions: ["v9.DRAPlugin"] },
    "1.36",
    'none of services supported by the plugin (["v9.DRAPlugin"]) are supported by the kubelet ' +
      '(["v1.DRAPlugin" "v1beta1.DRAPlugin"])',
  ],
  [DRA, "1.28", "no handler registered for plugin type: DRAPlugin"],
  [
    { ...DEVICE, supportedVersions: ["v2"] },
    "1.36",
    "manager version, v1beta1, is not among plugin supported versions [v2]",
  ],
])("%j is refused by kubelet %s, in its words", async (plugin, version, reason) => {
  await node.kubelet({ version });
  const registration = await start(plugin, { onRegistrationFailure: "end" });
  await expect(registration.ready).rejects.toMatchObject({
    code: "REFUSED",
    message: expect.stringContaining(reason),
  });
  expect(await registration.closed).toMatchObject({ kind: "refused", hint: expect.any(String) });
});

test("a device plugin that does not listen is refused: kubelet dials it", async () => {
  await node.kubelet({ timings: { dialMs: 1_000 } });
  const { closed } = await start(DEVICE, { onRegistrationFailure: "end" });
  const reason = expect.stringContaining("failed to dial device plugin: context deadline exceeded");
  expect(await closed).toMatchObject({ kind: "refused", kubeletError: reason });
});
