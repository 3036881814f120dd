import { lstatSync } from "node:fs";
import { startBlindRegistrar } from "./support/blind-registrar";
import { startCsiDriver } from "./support/csi-driver";
import { startDriverPod, startRegisteredPod } from "./support/driver-pod";
import { startNode } from "./support/node-folder";
import { PUBLISHED, startRegistrar } from "./support/registrar";
import { settled } from "./support/settled";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const socket = `${name}-reg.sock`;

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test.concurrent.each([
    ["SIGTERM", "SIGTERM"],
    ["SIGTERM", "SIGKILL"],
    ["SIGKILL", "SIGTERM"],
    ["SIGKILL", "SIGKILL"],
  ] as const)("the young one of two registrars gets %s, then the old one %s", async (first, second) => {
    await using node = await startNode(version);
    await using pod = await startDriverPod(node, { name });
    const old = pod.registrar;
    await old.reached("registered");
    await using young = await startRegistrar(pod.paths.args);
    await Promise.all([young.reached("registered"), old.reached("standby")]);
    expect(await node.visibleSockets()).toEqual([socket]);

    young.signal(first);

    await old.reached("registered", 2);
    await node.kubelet.registered(name);
    expect(await node.visibleSockets()).toEqual([socket]);

    await using third = await startRegistrar(pod.paths.args);
    await Promise.all([third.reached("registered"), old.reached("standby", 2)]);
    const { ino } = lstatSync(pod.paths.registrationSocketPath);
    const eventsBefore = await node.kubelet.eventsSoFar();

    old.signal(second);
    await old.exited;
    await settled(node);

    expect(lstatSync(pod.paths.registrationSocketPath).ino).toBe(ino);
    expect(await node.visibleSockets()).toEqual([socket]);
    expect(third.count(PUBLISHED)).toBe(1);
    const about = node.kubelet.events.all().slice(eventsBefore);
    expect(about.filter((event) => "plugin" in event && event.plugin === name)).toEqual([]);
    await node.kubelet.registered(name);
  });

  test.concurrent("an old official one removes the young one's socket at its end: it is put back", async () => {
    await using node = await startNode(version);
    const paths = await node.addDriver(name);
    await using _driver = await startCsiDriver({ endpoint: paths.kubeletRegistrationPath, name });
    await using official = await startBlindRegistrar({ ...paths, driverName: name });
    await node.kubelet.registered(name);
    await using registrar = await startRegistrar(paths.args);
    await registrar.reached("registered");
    const eventsBefore = await node.kubelet.eventsSoFar();

    await official.end();

    expect((await node.kubelet.answered("register", name, eventsBefore)).error).toBeNull();
    await registrar.reached("registered", 2);
    await node.kubelet.registered(name);
    expect(await node.visibleSockets()).toEqual([socket]);
  });

  test.concurrent("a young official one that takes the socket is left alone, and followed when it goes", async () => {
    await using node = await startNode(version);
    await using pod = await startRegisteredPod(node, { name });

    await using official = await startBlindRegistrar({ ...pod.paths, driverName: name });
    await pod.registrar.reached("standby");
    const published = pod.registrar.count(PUBLISHED); // Twice, where it healed before the official one listened.
    await settled(node);
    expect(pod.registrar.count(PUBLISHED)).toBe(published);
    await node.kubelet.registered(name);

    await official.end();
    await pod.registrar.reached("registered", 2);
    await node.kubelet.registered(name);
    expect(await node.visibleSockets()).toEqual([socket]);
  });
});
