import { leaveDeadSocket } from "../support/foreign-socket";
import { startBlindRegistrar } from "./support/blind-registrar";
import { startRegisteredPod } from "./support/driver-pod";
import { type Node, startNode } from "./support/node-folder";
import { PUBLISHED, startRegistrar } from "./support/registrar";
import { settled } from "./support/settled";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";

const rows = kubeletVersions().flatMap((version) =>
  (["SIGTERM", "SIGKILL"] as const).map((signal) => [version, signal] as const),
);

test.concurrent.each(rows)(
  "kubelet %s, which backs off from a dead socket, registers by another one; and again when a new registrar follows on %s",
  async (version, signal) => {
    await using node = await startNode(version);
    await backOffFromDeadSocket(node);
    expect(await node.visibleSockets()).toEqual([`${name}-reg.sock`]);

    await using pod = await startRegisteredPod(node, { name });
    await node.kubelet.registered(name);
    const sockets = await node.visibleSockets();
    expect(sockets).toEqual([expect.stringMatching(new RegExp(`^${name}-\\w+-reg\\.sock$`))]);
    expect(pod.registrar.count(PUBLISHED)).toBe(2);

    pod.registrar.signal(signal);
    await pod.registrar.exited;
    await using next = await startRegistrar(pod.paths.args);
    await next.reached("registered");
    await settled(node);
    await node.kubelet.registered(name);
    expect(await node.visibleSockets()).toEqual(signal === "SIGTERM" ? [`${name}-reg.sock`] : sockets);
  },
);

/**
 * Leaves a dead socket of the driver's, and kubelet waiting for 16 s until it dials that path again: time for the next
 * registrar to start on a busy machine, and to see that nobody calls. After a reboot it takes kubelet a minute to get
 * there, as it dials a dead socket for 10 s each time; here it refuses a living registrar that keeps its name. Takes
 * about 17 s, in which kubelet waits for 0.5, 1, 2, 4 and 8 s.
 */
async function backOffFromDeadSocket(node: Node) {
  await node.kubelet.command({ command: "refuse", text: "before the reboot", times: 6, stage: "validate" });
  const paths = await node.addDriver(name);
  const registrar = await startBlindRegistrar({ ...paths, driverName: name });
  await node.kubelet.log.waitFor((line) => line.includes("(durationBeforeRetry 16s)"));
  await registrar.end();
  await leaveDeadSocket(paths.registrationSocketPath);
}
