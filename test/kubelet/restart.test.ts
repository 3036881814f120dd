import { startDriverPod } from "./support/driver-pod";
import { startNode } from "./support/node-folder";
import { startRegistrar } from "./support/registrar";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test("registers again after it was killed, with the same registrar", async () => {
    await using node = await startNode(version);
    await using pod = await startDriverPod(node, { name });
    const before = await node.kubelet.registered(name);

    await using kubelet = await node.kubelet.restart();

    expect((await kubelet.answered("register", name)).error).toBeNull();
    expect(await kubelet.registered(name)).toEqual(before);
    pod.registrar.signal("SIGTERM");
    await kubelet.deregistered(name);
  });

  test("registers a registrar that comes back after it was killed and left its socket", async () => {
    await using node = await startNode(version);
    await using pod = await startDriverPod(node, { name });
    await node.kubelet.registered(name);
    pod.registrar.signal("SIGKILL");
    await pod.registrar.exited;

    await node.kubelet.answered("register", name);
    const eventsBefore = await node.kubelet.eventsSoFar();
    await using _restarted = await startRegistrar(pod.paths.args);

    expect((await node.kubelet.answered("register", name, eventsBefore)).error).toBeNull();
    await node.kubelet.registered(name);
  });
});
