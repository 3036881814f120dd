import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServiceClientConstructor,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { startRegistration } from "../../src/registrar/start-registration";
import type { CsiServiceHost } from "../../src/serving/options";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import type { CsiCall } from "../../src/serving/unary-method";
import { startKubelet } from "./support/kubelet";
import { createNodeFolder } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";

const file = join(__dirname, "..", "..", "examples", "driver", "csi.proto");
const { csi } = loadPackageDefinition(loadSync(file, { defaults: true }));
const { v1 } = csi as unknown as {
  readonly v1: Readonly<Record<"Identity" | "Node", ServiceClientConstructor>>;
};

interface PublishRequest {
  readonly targetPath: string;
  readonly volumeContext: Readonly<Record<string, string>>;
}

/** A driver of folders, in the form that grpc-js has: by callback, and as promises. */
function createDriver() {
  const published: Readonly<Record<string, string>>[] = [];
  const addServices = (server: CsiServiceHost) => {
    server.addService(v1.Identity.service, {
      GetPluginInfo: (_call: unknown, callback: (error: null, response: object) => void) =>
        callback(null, { name, vendorVersion: "1.0.0" }),
      Probe: async () => ({}),
    });
    server.addService(v1.Node.service, {
      NodeGetInfo: async () => ({ nodeId: "vm-42" }),
      NodeGetCapabilities: async () => ({}),
      NodePublishVolume: async ({ request }: CsiCall<PublishRequest>) => {
        published.push(request.volumeContext);
        await mkdir(request.targetPath);
        return {};
      },
      NodeUnpublishVolume: async ({ request }: CsiCall<PublishRequest>) => {
        await rm(request.targetPath, { recursive: true });
        return {};
      },
    });
  };
  return { published, addServices };
}

test.each(kubeletVersions())(
  "kubelet %s registers a driver that is served by us, mounts and unmounts a volume of it",
  async (version) => {
    await using node = await createNodeFolder();
    await using kubelet = await startKubelet({ version, pluginDir: node.pluginRegistrationPath });
    const { kubeletRegistrationPath: endpoint, csiAddress } = await node.addDriver(name);
    const { addServices, published } = createDriver();
    await using driver = await serveCsiDriver({
      ...{ csiAddress, endpoint, addServices },
      pluginRegistrationPath: node.pluginRegistrationPath,
    });
    await driver.ready;
    expect(await kubelet.registered(name)).toMatchObject({ name, nodeID: "vm-42" });

    const path = await kubelet.mount(name, "scratch", { size: "small" });
    expect(existsSync(path)).toBe(true);
    expect(published).toEqual([
      expect.objectContaining({ size: "small", "csi.storage.k8s.io/pod.name": "pod-1" }),
    ]);
    await kubelet.unmount("scratch");
    expect(existsSync(path)).toBe(false);

    await driver.close();
    await kubelet.deregistered(name);
    expect(existsSync(csiAddress)).toBe(false);
    await expect(kubelet.mount(name, "late", {})).rejects.toThrow(
      /not found in the list of registered CSI drivers/,
    );
  },
);

const sendsThePath = (version: string) => Number(version.split(".")[1]) < 26;

for (const version of kubeletVersions().filter(sendsThePath))
  test(`kubelet ${version} cannot reach the same driver behind a plain server of grpc-js, which is why`, async () => {
    await using node = await createNodeFolder();
    await using kubelet = await startKubelet({ version, pluginDir: node.pluginRegistrationPath });
    const { kubeletRegistrationPath: endpoint } = await node.addDriver(name);
    const server = new Server();
    createDriver().addServices(server as unknown as CsiServiceHost);
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix:${endpoint}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      ),
    );
    const { pluginRegistrationPath } = node;
    const registration = await startRegistration({ name, endpoint, pluginRegistrationPath });
    await expect(registration.ready).rejects.toMatchObject({
      code: "REFUSED",
      message: expect.stringContaining("PROTOCOL_ERROR"),
    });
    expect(kubelet.objects().csiNode?.spec.drivers ?? []).toEqual([]);
    server.forceShutdown();
  });
