import { startRegistration } from "../../src/registrar/start-registration";
import { startCsiDriver } from "./support/csi-driver";
import { nodeIds } from "./support/kubelet";
import { startNode } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";

test.each(kubeletVersions())(
  "kubelet %s registers a driver that registers itself, forgets it when it closes, and says no to it in its own words",
  async (version) => {
    await using node = await startNode(version);
    const { pluginRegistrationPath } = node;
    const { kubeletRegistrationPath: endpoint } = await node.addDriver(name);

    const early = await startRegistration({ name, endpoint, pluginRegistrationPath });
    await expect(early.ready).rejects.toMatchObject({
      code: "REFUSED",
      message: expect.stringContaining(`dial unix ${endpoint}`),
    });

    await using _driver = await startCsiDriver({ endpoint, name, nodeId: "vm-42" });
    const registration = await startRegistration({ name, endpoint, pluginRegistrationPath });
    await registration.ready;
    expect(await node.kubelet.registered(name)).toMatchObject({ name, nodeID: "vm-42" });
    expect(nodeIds(node.kubelet.objects().node)).toEqual({ [name]: "vm-42" });

    await registration.close();
    await node.kubelet.deregistered(name);
  },
);
