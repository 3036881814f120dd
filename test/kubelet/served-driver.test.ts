import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { loadPackageDefinition, type Server, type ServiceClientConstructor } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import { startNode } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";

const file = join(__dirname, "..", "..", "examples", "driver", "csi.proto");
const { csi } = loadPackageDefinition(loadSync(file, { defaults: true }));
const { v1 } = csi as unknown as {
  readonly v1: Readonly<Record<"Identity" | "Node", ServiceClientConstructor>>;
};

interface PublishCall {
  readonly request: { readonly targetPath: string; readonly volumeContext: Readonly<Record<string, string>> };
}

function createDriver() {
  const published: Readonly<Record<string, string>>[] = [];
  const addServices = (server: Server) => {
    server.addService(v1.Identity.service, {
      GetPluginInfo: async () => ({ name, vendorVersion: "1.0.0" }),
      Probe: async () => ({}),
    });
    server.addService(v1.Node.service, {
      NodeGetInfo: async () => ({ nodeId: "vm-42" }),
      NodeGetCapabilities: async () => ({}),
      NodePublishVolume: async ({ request: { targetPath, volumeContext } }: PublishCall) => {
        published.push(volumeContext);
        await mkdir(targetPath);
        return {};
      },
      NodeUnpublishVolume: async ({ request: { targetPath } }: PublishCall) => {
        await rm(targetPath, { recursive: true });
        return {};
      },
    });
  };
  return { published, addServices };
}

test.each(kubeletVersions())(
  "kubelet %s registers a driver that is served by us, mounts and unmounts a volume of it",
  async (version) => {
    await using node = await startNode(version);
    const { kubeletRegistrationPath: endpoint, csiAddress } = await node.addDriver(name);
    const { addServices, published } = createDriver();
    const { pluginDir: pluginRegistrationPath } = node;
    await using driver = await serveCsiDriver({ csiAddress, endpoint, addServices, pluginRegistrationPath });
    await driver.ready;
    expect(await node.kubelet.registered(name)).toMatchObject({ name, nodeID: "vm-42" });

    const path = await node.kubelet.mount(name, "scratch", { size: "small" });
    expect(existsSync(path)).toBe(true);
    expect(published).toMatchObject([{ size: "small", "csi.storage.k8s.io/pod.name": "pod-1" }]);
    await node.kubelet.unmount("scratch");
    expect(existsSync(path)).toBe(false);

    await driver.close();
    await node.kubelet.deregistered(name);
    expect(existsSync(csiAddress)).toBe(false);
    await expect(node.kubelet.mount(name, "late", {})).rejects.toThrow(/not found in the list of regis/);
  },
);
