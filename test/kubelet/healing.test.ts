import { rm } from "node:fs/promises";
import { startCsiDriver } from "./support/csi-driver";
import { PUBLISHED, settled, startDriverPod, startRegisteredPod } from "./support/driver-pod";
import { startNode } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const socket = `${name}-reg.sock`;

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test.concurrent("a driver is registered again after a new kubelet recreated the directory", async () => {
    await using node = await startNode(version);
    await using pod = await startRegisteredPod(node, { name });

    await node.kubelet.kill();
    await node.removePluginDirectory();
    await pod.registrar.line("Failed to listen on socket");
    await using kubelet = await node.kubelet.restart();

    expect((await kubelet.answered("register", name)).error).toBeNull();
    await pod.registrar.reached("registered", 2);
    await kubelet.registered(name);
    expect(node.visibleFiles()).toEqual([socket]);
  });

  test.concurrent("a registrar that was frozen during kubelet's status report registers again", async () => {
    await using node = await startNode(version);
    await node.kubelet.command({ command: "hang", seconds: 3 });
    await using pod = await startDriverPod(node, { name });
    await pod.registrar.reached("asked");
    pod.registrar.kill("SIGSTOP");
    await node.kubelet.log.waitFor((line) => line.includes("DeadlineExceeded"));
    pod.registrar.kill("SIGCONT");
    await pod.registrar.reached("registered");
    await settled(node);
    await node.kubelet.registered(name);
  });

  // Kubelet up to 1.35 reports a status once, and the registrar stays `registered` meanwhile: all it sees is the end of a connection.
  test.concurrent("a registrar that was frozen during the refusal of a restarted kubelet registers again", async () => {
    await using node = await startNode(version);
    await using pod = await startRegisteredPod(node, { name });
    await using kubelet = await node.kubelet.restart();
    // Time enough for the two signals below on a busy machine.
    await kubelet.command({ command: "hang", seconds: 10 });
    await kubelet.answered("validate", name);
    pod.registrar.kill("SIGSTOP");
    await pod.driver.kill();
    expect((await kubelet.answered("register", name)).error).toContain("connection refused");
    const failed = await kubelet.eventsSoFar();
    await kubelet.log.waitFor((line) => line.includes("DeadlineExceeded"));
    await using _driver = await startCsiDriver({
      endpoint: pod.paths.kubeletRegistrationPath,
      name,
    });
    pod.registrar.kill("SIGCONT");

    expect((await kubelet.answered("register", name, failed)).error).toBeNull();
    await kubelet.registered(name);
    await pod.registrar.line("Received NotifyRegistrationStatus call", { nth: 2 });
  });

  test.concurrent("a socket that is removed during NodeGetInfo is put back after the status report", async () => {
    await using node = await startNode(version);
    await node.kubelet.command({ command: "hang", seconds: 3 });
    await using pod = await startDriverPod(node, { name });
    await pod.registrar.reached("asked");

    await rm(pod.paths.registrationSocketPath);

    await pod.registrar.reached("registered", 2);
    const steps = [PUBLISHED, "Received NotifyRegistrationStatus call"];
    const order = pod.registrar.lines().filter(({ message }) => steps.includes(message));
    expect(order.map(({ message }) => message)).toEqual([...steps, ...steps]);
    await node.kubelet.registered(name);
    await settled(node);
    expect(pod.registrar.lines(PUBLISHED)).toHaveLength(2);
  });
});
