import { replaceDriver, startDriverPod, startRegisteredPod } from "./support/driver-pod";
import { nodeIds } from "./support/kubelet";
import { startNode } from "./support/node-folder";
import { PUBLISHED } from "./support/registrar";
import { settled } from "./support/settled";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test.concurrent("the driver is killed and comes back: it stays registered as it was", async () => {
    await using node = await startNode(version);
    await using pod = await startRegisteredPod(node, { name, nodeId: "before" });

    await using _returned = await replaceDriver(pod, { name, nodeId: "after" });
    await pod.registrar.says("Connection restored");
    await settled(node);

    expect(nodeIds(node.kubelet.objects().node)).toEqual({ [name]: "before" });
    expect(pod.registrar.count(PUBLISHED)).toBe(1);
    const about = node.kubelet.events.all().filter((event) => "plugin" in event && event.plugin === name);
    expect(about.map(({ event }) => event)).toEqual(["validate", "register"]);
  });

  test.concurrent("--reregister-on-driver-restart: kubelet reads what the driver says of the node anew", async () => {
    await using node = await startNode(version);
    const before = { name, nodeId: "before", maxVolumes: 8 };
    await using pod = await startDriverPod(node, before, ["--reregister-on-driver-restart"]);
    expect(await node.kubelet.registered(name)).toMatchObject({
      nodeID: "before",
      allocatable: { count: 8 },
    });
    await pod.registrar.reached("registered");

    await using _returned = await replaceDriver(pod, { name, nodeId: "after", maxVolumes: 16 });

    await pod.registrar.reached("registered", 2);
    expect(await node.kubelet.registered(name)).toMatchObject({
      nodeID: "after",
      allocatable: { count: 16 },
    });
    expect(nodeIds(node.kubelet.objects().node)).toEqual({ [name]: "after" });
    expect(pod.registrar.count(PUBLISHED)).toBe(2);
  });
});
