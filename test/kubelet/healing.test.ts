import { rm } from "node:fs/promises";
import { startDriverPod, startRegisteredPod } from "./support/driver-pod";
import { startNode } from "./support/node-folder";
import { PUBLISHED } from "./support/registrar";
import { settled } from "./support/settled";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const socket = `${name}-reg.sock`;

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test.concurrent("the directory is removed and a new kubelet makes it anew: registered again", async () => {
    await using node = await startNode(version);
    await using pod = await startRegisteredPod(node, { name });

    await node.kubelet.kill();
    await node.removePluginDirectory();
    await pod.registrar.says("Failed to listen on socket");
    await using kubelet = await node.kubelet.restart();

    expect((await kubelet.answered("register", name)).error).toBeNull();
    await pod.registrar.reached("registered", 2);
    await kubelet.registered(name);
    expect(await node.visibleSockets()).toEqual([socket]);
  });

  test.concurrent("frozen while kubelet reports its status, which is lost: registered again", async () => {
    await using node = await startNode(version);
    await node.kubelet.command({ command: "hang", seconds: 3 });
    await using pod = await startDriverPod(node, { name });
    await pod.registrar.reached("asked");
    pod.registrar.signal("SIGSTOP");
    await node.kubelet.log.waitFor((line) => line.includes("DeadlineExceeded"));
    pod.registrar.signal("SIGCONT");
    await pod.registrar.reached("registered");
    await settled(node);
    await node.kubelet.registered(name);
  });

  test.concurrent("the socket is removed while NodeGetInfo hangs: put back after the notice only", async () => {
    await using node = await startNode(version);
    await node.kubelet.command({ command: "hang", seconds: 3 });
    await using pod = await startDriverPod(node, { name });
    await pod.registrar.reached("asked");

    await rm(pod.paths.registrationSocketPath);

    await pod.registrar.reached("registered", 2);
    const steps = [PUBLISHED, "Received NotifyRegistrationStatus call"];
    const order = pod.registrar.log.all().flatMap((line) => steps.filter((step) => line.includes(step)));
    expect(order).toEqual([...steps, ...steps]);
    await node.kubelet.registered(name);
    await settled(node);
    expect(pod.registrar.count(PUBLISHED)).toBe(2);
  });
});
