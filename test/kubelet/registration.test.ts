import { startCsiDriver } from "./support/csi-driver";
import { PUBLISHED, startDriverPod } from "./support/driver-pod";
import { nodeIds } from "./support/kubelet";
import { startNode } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const text = "the API server does not answer";

// How a driver is registered and refused, test/end-to-end tests with the simulated kubelet, which fidelity/ compares with this one.
describe.each(kubeletVersions())("kubelet %s", (version) => {
  test.concurrent("with --reregister-on-driver-restart kubelet reads the driver's node information again", async () => {
    await using node = await startNode(version);
    const before = { name, nodeId: "before", maxVolumes: 8 };
    await using pod = await startDriverPod(node, before, ["--reregister-on-driver-restart"]);
    expect(await node.kubelet.registered(name)).toMatchObject({
      nodeID: "before",
      allocatable: { count: 8 },
    });
    await pod.registrar.reached("registered");

    await pod.driver.kill();
    await pod.registrar.line("Lost connection");
    const endpoint = pod.paths.kubeletRegistrationPath;
    await using _returned = await startCsiDriver({
      endpoint,
      name,
      nodeId: "after",
      maxVolumes: 16,
    });

    await pod.registrar.reached("registered", 2);
    expect(await node.kubelet.registered(name)).toMatchObject({
      nodeID: "after",
      allocatable: { count: 16 },
    });
    expect(nodeIds(node.kubelet.objects().node)).toEqual({ [name]: "after" });
    expect(pod.registrar.lines(PUBLISHED)).toHaveLength(2);
  });

  test.concurrent.each(["validate", "register"] as const)(
    "with retry the registrar outlives refusals to %s without a restart, and logs few lines",
    async (stage) => {
      await using node = await startNode(version);
      await node.kubelet.command({ command: "refuse", text, times: 3, stage });
      await using pod = await startDriverPod(node, { name }, ["--on-registration-failure=retry", "-v=2"]);

      await pod.registrar.reached("registered");

      await node.kubelet.registered(name);
      const lines = pod.registrar.lines();
      // In the notice, and what we make of it.
      expect(lines.filter((line) => line.text.includes(text))).toHaveLength(2);
      expect(lines.length).toBeLessThan(40);
    },
  );
});
