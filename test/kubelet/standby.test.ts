import { lstatSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { type CsiDriverFault, startCsiDriver as startSimulatedDriver } from "../../src/testing";
import { startCli } from "../end-to-end/support/process";
import { startFakeRegistrar } from "../simulator/fake-registrar";
import { leaveDeadSocket } from "../support/foreign-socket";
import { PATIENCE_MS } from "../support/history";
import { startCsiDriver } from "./support/csi-driver";
import { PUBLISHED, settled, startRegisteredPod } from "./support/driver-pod";
import { type DriverPaths, type Node, startNode } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const socket = `${name}-reg.sock`;

/** A registrar with the official one's manners: it removes what is at its path when it starts, and at its end. */
async function startBlindRegistrar(paths: DriverPaths) {
  const { registrationSocketPath: socketPath, kubeletRegistrationPath: endpoint } = paths;
  await rm(socketPath, { force: true });
  const registrar = await startFakeRegistrar({ socketPath, info: { name, endpoint } });
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ending ??= rm(socketPath, { force: true }).then(registrar.close);
    return ending;
  };
  return { end, [Symbol.asyncDispose]: end };
}

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test.concurrent.each([
    ["SIGTERM", "SIGKILL"],
    ["SIGKILL", "SIGTERM"],
  ] as const)("the young one of two registrars gets %s, then the old one %s", async (first, second) => {
    await using node = await startNode(version);
    await using pod = await startRegisteredPod(node, { name });
    const old = pod.registrar;
    await using young = startCli(pod.paths.args);
    await Promise.all([young.reached("registered"), old.reached("standby")]);
    expect(node.visibleFiles()).toEqual([socket]);

    young.kill(first);

    await old.reached("registered", 2);
    await node.kubelet.registered(name);
    expect(node.visibleFiles()).toEqual([socket]);

    await using third = startCli(pod.paths.args);
    await Promise.all([third.reached("registered"), old.reached("standby", 2)]);
    const { ino } = lstatSync(pod.paths.registrationSocketPath);
    const eventsBefore = await node.kubelet.eventsSoFar();

    old.kill(second);
    await old.exit();
    await settled(node);

    expect(lstatSync(pod.paths.registrationSocketPath).ino).toBe(ino);
    expect(node.visibleFiles()).toEqual([socket]);
    expect(third.lines(PUBLISHED)).toHaveLength(1);
    const about = node.kubelet.events.all().slice(eventsBefore);
    expect(about.filter((event) => "plugin" in event && event.plugin === name)).toEqual([]);
    await node.kubelet.registered(name);
  });

  test.concurrent("a socket that an ending official registrar removes is put back", async () => {
    await using node = await startNode(version);
    const paths = await node.addDriver(name);
    await using _driver = await startCsiDriver({ endpoint: paths.kubeletRegistrationPath, name });
    await using official = await startBlindRegistrar(paths);
    await node.kubelet.registered(name);
    await using registrar = startCli(paths.args);
    await registrar.reached("registered");
    const eventsBefore = await node.kubelet.eventsSoFar();

    await official.end();

    expect((await node.kubelet.answered("register", name, eventsBefore)).error).toBeNull();
    await registrar.reached("registered", 2);
    await node.kubelet.registered(name);
    expect(node.visibleFiles()).toEqual([socket]);
  });

  test.concurrent("a newer official registrar keeps the socket, and ours takes over when it ends", async () => {
    await using node = await startNode(version);
    await using pod = await startRegisteredPod(node, { name });

    await using official = await startBlindRegistrar(pod.paths);
    await pod.registrar.reached("standby");
    const published = pod.registrar.lines(PUBLISHED).length; // Twice, where it healed before the official one listened.
    await settled(node);
    expect(pod.registrar.lines(PUBLISHED)).toHaveLength(published);
    await node.kubelet.registered(name);

    await official.end();
    await pod.registrar.reached("registered", 2);
    await node.kubelet.registered(name);
    expect(node.visibleFiles()).toEqual([socket]);
  });

  test.concurrent("with retry a driver that kubelet keeps by a dead socket is registered again, also with a dead alias", async () => {
    await using node = await startNode(version);
    await using pod = await startRegisteredPod(node, { name });
    const { args, registrationSocketPath } = pod.paths;
    await settled(node); // Kubelet has the answer to its status.
    pod.registrar.kill("SIGKILL");
    await pod.registrar.exit();
    await leaveDeadSocket(registrationSocketPath.replace(socket, `${name}-_abc-reg.sock`));

    // It takes the alias, which kubelet refuses; half a minute later the other one's place.
    await using next = startCli([...args, "--on-registration-failure=retry"]);
    await next.reached("standby");
    await next.reached("registered");
    await node.kubelet.registered(name);
    expect(node.visibleFiles()).toEqual([socket]);
  });

  test.concurrent.each<[signal: "SIGTERM" | "SIGKILL", fault: CsiDriverFault]>([
    ["SIGTERM", { kind: "hang", method: "NodeGetInfo", times: 1 }],
    ["SIGKILL", { kind: "slow", method: "NodeGetInfo", delayMs: 12_000, times: 1 }],
  ])("after %s while NodeGetInfo runs the next registrar waits for its end: %j", async (signal, fault) => {
    await using node = await startNode(version);
    const { kubeletRegistrationPath: csiAddress, args } = await node.addDriver(name);
    await using driver = await startSimulatedDriver({
      csiAddress,
      name,
      faults: [fault],
      waitTimeoutMs: PATIENCE_MS,
    });
    await using another = await startSimulatedDriver({ csiAddress: `${csiAddress}.next`, name });
    await using earlier = startCli(args);
    await driver.events.when("fault-applied");
    earlier.kill(signal);
    await earlier.exit();

    await using registrar = startCli(args);
    await registrar.line(
      "Kubelet has, or is registering, the driver by another socket, waiting for it where we were",
    );
    expect(node.visibleFiles()).toEqual([socket]);
    if (fault.kind === "hang") {
      await rename(another.csiAddress, csiAddress);
      await driver.kill();
    }

    await registrar.reached("registered");
    await settled(node);
    await node.kubelet.registered(name);
    expect(node.visibleFiles()).toEqual([socket]);
  });

  test.concurrent.each(["SIGTERM", "SIGKILL"] as const)(
    "kubelet, backing off from a dead socket, registers over another name, and again after %s",
    async (signal) => {
      await using node = await startNode(version);
      await backOffFromDeadSocket(node);
      expect(node.visibleFiles()).toEqual([socket]);

      await using pod = await startRegisteredPod(node, { name });
      await node.kubelet.registered(name);
      const sockets = node.visibleFiles();
      expect(sockets).toEqual([expect.stringMatching(new RegExp(`^${name}-\\w+-reg\\.sock$`))]);
      expect(pod.registrar.lines(PUBLISHED)).toHaveLength(2);

      pod.registrar.kill(signal);
      await pod.registrar.exit();
      await using next = startCli(pod.paths.args);
      await next.reached("registered");
      await settled(node);
      await node.kubelet.registered(name);
      // After SIGTERM no file says by which name kubelet knew the driver, and kubelet still backs off from the usual one.
      const moved = [expect.stringMatching(new RegExp(`^${name}-_\\w{3}-reg\\.sock$`))];
      expect(node.visibleFiles()).toEqual(signal === "SIGTERM" ? moved : sockets);
    },
  );
});

/**
 * Leaves a dead socket of the driver's, and kubelet waiting for 16 s until it dials that path again: time for the next
 * registrar to start on a busy machine, and to see that nobody calls. After a reboot it takes kubelet a minute to get
 * there, as it dials a dead socket for 10 s each time; here it refuses a living registrar that keeps its name. Takes
 * about 17 s, in which kubelet waits for 0.5, 1, 2, 4 and 8 s.
 */
async function backOffFromDeadSocket(node: Node) {
  await node.kubelet.command({ command: "refuse", text: "before the reboot", times: 6, stage: "validate" });
  const paths = await node.addDriver(name);
  const registrar = await startBlindRegistrar(paths);
  await node.kubelet.log.waitFor((line) => line.includes("(durationBeforeRetry 16s)"));
  await registrar.end();
  await leaveDeadSocket(paths.registrationSocketPath);
}
