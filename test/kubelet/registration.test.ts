import { existsSync } from "node:fs";
import { startDriverPod } from "./support/driver-pod";
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

    expect(await pod.registrar.exited).toEqual({ code: 1, signal: null });
    expect(existsSync(pod.paths.registrationSocketPath)).toBe(false);
    expect(pod.registrar.log.all().join("\n")).toContain(text);
    // Kubelet's line about the failed registration; where its notice went unanswered it ends with the RPC's error.
    const failure = await node.kubelet.log.waitFor((line) => line.includes("No retries permitted until"));
    expect(failure).toContain(text);
    expect(failure).not.toContain("rpc error");
  });
});
