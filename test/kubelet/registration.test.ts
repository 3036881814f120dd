import { startDriverPod } from "./support/driver-pod";
import { nodeIds, startKubelet } from "./support/kubelet";
import { createNodeFolder, startNode } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test("writes the driver into CSINode and Node, as the driver describes itself", async () => {
    await using node = await startNode(version);
    const topology = { "example.com/rack": "r7", "example.com/zone": "z1" };
    await using pod = await startDriverPod(node, { name, nodeId: "vm-42", maxVolumes: 25, topology });

    expect(await node.kubelet.registered(name)).toEqual({
      name,
      nodeID: "vm-42",
      topologyKeys: ["example.com/rack", "example.com/zone"],
      allocatable: { count: 25 },
    });
    expect(nodeIds(node.kubelet.objects().node)).toEqual({ [name]: "vm-42" });
    expect(node.kubelet.objects().node.metadata.labels).toEqual(topology);
    expect(await node.kubelet.answered("register", name)).toEqual({
      event: "register",
      plugin: name,
      endpoint: pod.paths.kubeletRegistrationPath,
      versions: ["1.0.0"],
      error: null,
    });
  });

  test("registers a driver whose registrar waited for kubelet", async () => {
    await using node = await createNodeFolder();
    await using pod = await startDriverPod(node, { name });
    await pod.registrar.log.waitFor((line) => line.includes("Registration Server started"));

    await using kubelet = await startKubelet({ version, pluginDir: node.pluginRegistrationPath });

    await kubelet.registered(name);
  });
});
