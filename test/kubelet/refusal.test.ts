import { existsSync } from "node:fs";
import { startDriverPod } from "./support/driver-pod";
import { startNode } from "./support/node-folder";
import { startRegistrar } from "./support/registrar";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const text = "the API server does not answer";

describe.each(kubeletVersions())("kubelet %s", (version) => {
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

  test("registers the driver when its container was restarted after a refusal", async () => {
    await using node = await startNode(version);
    await node.kubelet.command({ command: "refuse", text });
    await using pod = await startDriverPod(node, { name });
    await pod.registrar.exited;

    await using _restarted = await startRegistrar(pod.paths.args);

    await node.kubelet.registered(name);
  });
});
