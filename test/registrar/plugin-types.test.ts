import { readdirSync } from "node:fs";
import type { RegistrationOptions } from "../../src/registrar/model/options";
import { startRegistration } from "../../src/registrar/start-registration";
import { eachTest } from "../support/each-test";
import { registerOnce } from "../support/fake-kubelet";
import { PATIENCE_MS } from "../support/history";
import { createTestNode, ENDPOINT } from "../support/registrar-node";

const node = eachTest(createTestNode);

const start = (options: Partial<RegistrationOptions>) => {
  const { pluginRegistrationPath } = node;
  return startRegistration({
    name: "x.csi",
    endpoint: ENDPOINT,
    pluginRegistrationPath,
    timeoutMs: PATIENCE_MS,
    ...options,
  });
};
const files = () => readdirSync(node.pluginRegistrationPath);

describe("another plugin of kubelet's API", () => {
  test.each<[Partial<RegistrationOptions>, file: string]>([
    [
      { type: "DRAPlugin", name: "gpu.example.com", supportedVersions: ["v1.DRAPlugin"] },
      "gpu.example.com-dra",
    ],
    [
      { type: "DevicePlugin", name: "example.com/gpu", supportedVersions: ["v1beta1"] },
      "example.com_gpu-device",
    ],
  ])("%j is told to kubelet, by a socket of its own name", async (options, file) => {
    await using registration = await start(options);
    expect(await registerOnce(node.socketPath(file))).toEqual({ endpoint: ENDPOINT, ...options });
    await registration.ready;
    expect(await registration.selfCheck()).toEqual({ kind: "ok" });
  });

  test.each<[Partial<RegistrationOptions>, string]>([
    [{ type: "DRAPlugin", name: "G_PU", supportedVersions: ["v1.DRAPlugin"] }, "must be a DNS subdomain"],
    [
      { type: "DRAPlugin", name: "a".repeat(64), supportedVersions: ["v1.DRAPlugin"] },
      "63 characters at most",
    ],
    [{ type: "DevicePlugin", name: "gpu", supportedVersions: ["v1beta1"] }, "must be a resource"],
    [
      { type: "DevicePlugin", name: "kubernetes.io/gpu", supportedVersions: ["v1beta1"] },
      "must be a resource",
    ],
    [{ type: "DevicePlugin", name: "../x/gpu", supportedVersions: ["v1beta1"] }, "must be a resource"],
  ])("%j is refused before anything is made", async (options, message) => {
    await expect(start(options)).rejects.toMatchObject({
      code: "UNSAFE_DRIVER_NAME",
      message: expect.stringContaining(message),
    });
    expect(files()).toEqual([]);
  });
});
