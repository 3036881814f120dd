import { linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CsiDriverFault } from "../../src/testing";
import { registerOnce } from "../support/dial-registration";
import { eventually } from "../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { mayMount, mountHanging } from "../support/hanging-mount";
import { startScriptedDriver } from "../support/scripted-driver";
import { DRIVER, nodeTest, onNode, registered, type TestNode } from "./support/node";

const HEALTHY = "--mode=health-probe";
const READY = "--mode=ready-probe";
const probe = async (node: TestNode, ...flags: readonly string[]) =>
  (await node.registrar(...flags).exit()).code;

const method = "GetPluginInfo";
test.each<CsiDriverFault>([
  { kind: "hang", method },
  { kind: "error", method, code: "UNAVAILABLE" },
])(
  "a driver that does not say its name is healthy and not ready: %j",
  onNode(async (node, fault) => {
    await node.driver({ faults: [fault] });
    const registrar = node.registrar("-v=5");
    await registrar.line("Calling CSI driver to discover driver name");
    expect(await probe(node, HEALTHY)).toBe(0);
    expect(await probe(node, READY)).toBe(1);
  }),
);

nodeTest(
  "with another program's registrar at the socket the probe is healthy and not ready",
  async (node) => {
    await node.plugin();
    await node.driver();
    expect(await probe(node, HEALTHY)).toBe(0);
    const probing = node.registrar(READY);
    expect((await probing.exit()).code).toBe(1);
    expect(probing.stderr).toBe(
      `another registrar holds the driver's registration socket, and does not say whether the driver is registered (${DRIVER} at ${node.csiAddress})\n`,
    );
    expect(await probe(node, HEALTHY, "--kubelet-registration-path=/other.sock")).toBe(1);
    renameSync(node.socketPath, node.at("moved"));
    symlinkSync(node.at("moved"), node.socketPath);
    expect(await probe(node, HEALTHY)).toBe(0);
  },
);

nodeTest("a published driver is healthy, a registered one ready, an ended one neither", async (node) => {
  const registrar = await node.published("-v=4");
  expect(await probe(node, HEALTHY)).toBe(0);
  expect(await probe(node, READY)).toBe(1);
  // A probe is no call of kubelet's, who may call again where it is slow.
  const calls = () => registrar.lines("Received GetInfo call").length;
  expect(calls()).toBe(0);
  await registered(await node.kubelet());
  await registrar.reached("registered");
  const before = calls();
  expect(await probe(node, HEALTHY)).toBe(0);
  expect(await probe(node, READY)).toBe(0);
  expect(calls()).toBe(before);
  await registrar.stop();
  // On a busy machine a driver may be too slow for a probe, which is healthy.
  await eventually(async () => expect(await probe(node, HEALTHY)).toBe(1));
  const probing = node.registrar(READY);
  expect((await probing.exit()).code).toBe(1);
  expect(probing.stderr).toBe(
    `no registrar for ${node.csiAddress} answers on a socket in ${node.pluginDir}\n`,
  );
});

nodeTest("a missing registration directory fails the ready probe, not the health probe", async (node) => {
  const missing = `--plugin-registration-path=${node.pluginDir}/not-there`;
  expect(await probe(node, HEALTHY, missing)).toBe(0);
  const probing = node.registrar(READY, missing);
  expect((await probing.exit()).code).toBe(1);
  expect(probing.stderr).toMatch(/cannot read the plugin .*not-there: ENOENT.*is it mounted/);
});

nodeTest("a driver's directory that never answers stops no probe", async (node) => {
  if (!mayMount()) return;
  const hung = join(node.pluginDir, "hung");
  mkdirSync(hung);
  using _mount = mountHanging(hung);
  // Before Node 22.15 it can only kill itself.
  expect(await probe(node, HEALTHY, `--csi-address=${hung}/csi.sock`)).toBe("execve" in process ? 0 : null);
});

nodeTest("20,000 dead sockets and files beside it hide no registrar that answers", async (node) => {
  await node.published();
  const dead = join(node.pluginDir, "dead");
  await leaveDeadSocket(dead);
  writeFileSync(`${dead}-file`, "");
  for (let count = 0; count < 10_000; count += 1) {
    linkSync(dead, join(node.pluginDir, `${count}.csi-reg.sock`));
    linkSync(`${dead}-file`, join(node.pluginDir, `a${count}.csi-reg.sock`));
  }
  expect(await probe(node, HEALTHY, "--timeout=10m")).toBe(0);
  const probing = node.registrar(READY, "--timeout=10m");
  expect((await probing.exit()).code).toBe(1);
  // Kubelet is silent: after 2.5 s the registrar moves, and publishes again.
  expect(probing.stderr).toMatch(/not registered: state is (?:listening|publishing)/);
});

nodeTest(
  "a registrar that is slow is waited for when all others beside it have answered or gone",
  async (node) => {
    await using driver = await startScriptedDriver(node.csiAddress, { name: DRIVER });
    const registrar = node.registrar();
    await registrar.reached("listening");
    await using frozen = await startForeignSocket(node.at("frozen"));
    for (let nth = 0; nth < 200; nth += 1)
      linkSync(node.at("frozen"), join(node.pluginDir, `${nth}.csi-reg.sock`));
    registrar.kill("SIGSTOP");
    const probing = node.registrar(READY, "--timeout=10m");
    const ended = probing.exit();
    await driver.called(2);
    await frozen.kill();
    await Promise.race([ended, delay(1_000)]);
    registrar.kill("SIGCONT");
    await ended;
    // Another one after 10 s: it publishes again, because kubelet's dial may have been lost.
    expect(probing.stderr).toContain("not registered: state is ");
  },
);

nodeTest("a probe that has its answer asks none of the thousands of sockets that are left", async (node) => {
  const registrar = await node.published();
  await registerOnce(node.socketPath); // It moves to no other name then.
  await registrar.reached("registered");
  // Each takes its time, so that all of them together take longer than any answer.
  await using others = await startForeignSocket(node.at("others"), (socket) =>
    setTimeout(() => socket.destroy(), 100).unref(),
  );
  const count = 5_000;
  for (let nth = 0; nth < count; nth += 1)
    linkSync(node.at("others"), join(node.pluginDir, `${nth}.csi-reg.sock`));
  expect(await probe(node, HEALTHY, "--timeout=10m")).toBe(0);
  expect(others.connections()).toBeLessThan(count);
});

nodeTest("2,000 registrars that hang beside it keep no registrar that answers waiting", async (node) => {
  await node.published();
  await using _frozen = await startForeignSocket(node.at("frozen"));
  for (let nth = 0; nth < 2_000; nth += 1)
    linkSync(node.at("frozen"), join(node.pluginDir, `${nth}.csi-reg.sock`));
  expect(await probe(node, HEALTHY, "--timeout=10m")).toBe(0);
});

nodeTest("a socket that came, or was moved, while a probe asked the others is asked, too", async (node) => {
  await node.driver();
  await using frozen = await startForeignSocket(node.at("frozen"));
  mkdirSync(node.pluginDir, { recursive: true });
  for (let nth = 0; nth < 200; nth += 1)
    linkSync(node.at("frozen"), join(node.pluginDir, `${nth}.csi-reg.sock`));
  const probing = node.registrar(READY, "--timeout=10m");
  await eventually(() => expect(frozen.connections()).toBeGreaterThan(0));
  await node.registrar().reached("listening");
  await frozen.kill();
  await probing.exit();
  // Kubelet is silent: after 2.5 s the registrar moves, and publishes again.
  expect(probing.stderr).toMatch(/not registered: state is (?:listening|publishing)/);
});

nodeTest(
  "refused, which hides its socket from kubelet until the next try: healthy, not ready",
  async (node) => {
    await node.driver();
    await node.kubelet({ faults: [{ kind: "refuse", error: "no" }] });
    await node.registrar("--on-registration-failure=retry").reached("refused");
    await eventually(async () => {
      const probing = node.registrar(READY);
      expect((await probing.exit()).code).toBe(1);
      const driver = `${DRIVER} at ${node.csiAddress}`;
      expect(probing.stderr).toBe(`not registered: state is refused (${driver})\n`);
    });
    expect(await probe(node, HEALTHY)).toBe(0);
  },
);

nodeTest("a registrar that hangs is not healthy", async (node) => {
  const registrar = await node.published();
  registrar.kill("SIGSTOP");
  expect(await probe(node, HEALTHY, "--timeout=1s")).toBe(1);
  registrar.kill("SIGCONT");
});

nodeTest("a frozen registrar of another driver delays no probe until the timeout", async (node) => {
  await using _frozen = await startForeignSocket(join(node.pluginDir, "frozen.csi-reg.sock"));
  const patient = "--timeout=10m";
  expect(await probe(node, HEALTHY, patient)).toBe(0);
  await node.driver();
  const registrar = node.registrar();
  await registered(await node.kubelet());
  await registrar.reached("registered");
  expect(await probe(node, HEALTHY, patient)).toBe(0);
  expect(await probe(node, READY, patient)).toBe(0);
});

// Once, Node 26 lost the answer to each second one.
nodeTest("each of ten probes in a row gets its answer", async (node) => {
  await node.published();
  for (let nth = 0; nth < 10; nth += 1) expect(await probe(node, HEALTHY)).toBe(0);
});
