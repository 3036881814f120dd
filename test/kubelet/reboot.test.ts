import { backOffFromDeadSocket } from "./support/backoff";
import { startDriverPod } from "./support/driver-pod";
import { startNode } from "./support/node-folder";
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
    await backOffFromDeadSocket(node, node.kubelet, name);
    expect(await node.visibleSockets()).toEqual([`${name}-reg.sock`]);

    await using pod = await startDriverPod(node, { name });
    await pod.registrar.reached("registered");
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
