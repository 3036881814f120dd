import { replaceDriver, startDriverPod, startRegisteredPod } from "./support/driver-pod";
import { startNode } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const RETRY = "--on-registration-failure=retry";

describe.each(kubeletVersions())("kubelet %s, --on-registration-failure=retry", (version) => {
  test.concurrent.each(["validate", "register"] as const)(
    "refuses to %s a few times, then accepts: no restart, and the log stays calm",
    async (stage) => {
      await using node = await startNode(version);
      await node.kubelet.command({
        command: "refuse",
        text: "the API server does not answer",
        times: 3,
        stage,
      });
      await using pod = await startDriverPod(node, { name }, [RETRY, "-v=2"]);

      await pod.registrar.reached("registered");

      await node.kubelet.registered(name);
      expect(pod.registrar.count("the API server does not answer")).toBe(2); // In the notice, and what we make of it.
      expect(pod.registrar.log.all().length).toBeLessThan(40);
    },
  );

  test.concurrent("refuses by its own rule until the driver is corrected", async () => {
    await using node = await startNode(version);
    await using _other = await startRegisteredPod(node, { name, topology: { "example.com/zone": "z1" } });
    const wrong = { name: "file.csi.example.com", topology: { "example.com/zone": "z2" } };
    await using pod = await startDriverPod(node, wrong, [RETRY]);
    await pod.registrar.says("hint=\"the driver's topology differs from a label the node has");

    const right = { ...wrong, topology: { "example.com/zone": "z1" } };
    await using _corrected = await replaceDriver(pod, right);

    await pod.registrar.reached("registered");
    await node.kubelet.registered(wrong.name);
    await node.kubelet.registered(name);
  });
});
