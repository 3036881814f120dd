import { existsSync } from "node:fs";
import { startCsiDriver } from "./support/csi-driver";
import { PUBLISHED, startDriverPod } from "./support/driver-pod";
import { nodeIds } from "./support/kubelet";
import { startNode } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const text = "the API server does not answer";

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

  test.each(["validate", "register"] as const)("tells the registrar that it refuses to %s", async (stage) => {
    await using node = await startNode(version);
    await node.kubelet.command({ command: "refuse", text, stage });
    await using pod = await startDriverPod(node, { name });

    expect(await pod.registrar.exit()).toEqual({ code: 1, signal: null });
    expect(existsSync(pod.paths.registrationSocketPath)).toBe(false);
    expect(pod.registrar.stderr).toContain(text);
    // Kubelet's line about the failed registration; where its notice went unanswered it ends with the RPC's error.
    const failure = await node.kubelet.log.waitFor((line) => line.includes("No retries permitted until"));
    expect(failure).toContain(text);
    expect(failure).not.toContain("rpc error");
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

    await pod.driver.kill();
    await pod.registrar.line("Lost connection");
    const endpoint = pod.paths.kubeletRegistrationPath;
    await using _returned = await startCsiDriver({ endpoint, name, nodeId: "after", maxVolumes: 16 });

    await pod.registrar.reached("registered", 2);
    expect(await node.kubelet.registered(name)).toMatchObject({
      nodeID: "after",
      allocatable: { count: 16 },
    });
    expect(nodeIds(node.kubelet.objects().node)).toEqual({ [name]: "after" });
    expect(pod.registrar.lines(PUBLISHED)).toHaveLength(2);
  });

  test.concurrent.each(["validate", "register"] as const)(
    "retry: refuses to %s a few times, then accepts: no restart, and the log stays calm",
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
