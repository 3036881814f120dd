import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { RegistrationEvent } from "../../src/registrar/model/events";
import { askInfo } from "../../src/registrar/registration/self-report";
import { dialRegistration, registerOnce } from "../support/dial-registration";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { PATIENCE_MS } from "../support/history";
import { identityOf } from "../support/identity-of";
import { createTestNode, PLUGIN_INFO, startListening, startTestRegistrar } from "../support/registrar-node";
import { startScriptedDriver } from "../support/scripted-driver";

const node = eachTest(createTestNode);

const name = "x.csi";

test("startRegistrar registers a driver: kubelet, listeners and the log get each step", async () => {
  await using _driver = await startScriptedDriver(node.csiAddress, { name, vendorVersion: "v7" });
  await using started = await startTestRegistrar(node);
  const { registrar, state } = started;
  const events: RegistrationEvent["kind"][] = [];
  registrar.subscribe(({ kind }) => events.push(kind));
  await state("listening");

  expect(await registerOnce(node.socketPath(name))).toEqual(PLUGIN_INFO);

  await state("registered");
  expect(registrar.status()).toMatchObject({
    state: "registered",
    connected: true,
    identity: { name, vendorVersion: "v7" },
    registrationSocketPath: node.socketPath(name),
    counters: { getInfoCalls: 1, accepted: 1, refused: 0, publications: { "driver-named": 1 } },
  });
  const { report } = await askInfo(node.socketPath(name), { timeoutMs: PATIENCE_MS });
  const changedAtMs = registrar.status().history.at(-1)?.atMs;
  expect(report).toMatchObject({ state: "registered", changedAtMs, hasKubeletCalled: true });
  const isCall = (kind: string) => kind !== "state-changed";
  expect(events.filter(isCall)).toEqual([
    "driver-call",
    "driver-answered",
    "published",
    "get-info",
    "registration-status",
  ]);
  expect(events.slice(0, 3)).toEqual(["driver-call", "driver-answered", "state-changed"]);
  const socket = node.socketPath(name);
  expect(started.log.all("Registration state changed").map(({ fields }) => fields)).toEqual([
    { from: "waiting", to: "publishing", reason: "driver-named", driver: name, socket: undefined },
    { from: "publishing", to: "listening", reason: "published", driver: name, socket },
    { from: "listening", to: "asked", reason: "get-info", driver: name, socket },
    { from: "asked", to: "registered", reason: "accepted", driver: name, socket },
  ]);
});

test("a call that the registrar's end cuts off does not count as the driver's failure", async () => {
  await using driver = await startScriptedDriver(node.csiAddress, "hang");
  const { registrar } = await startTestRegistrar(node);
  const events: RegistrationEvent["kind"][] = [];
  registrar.subscribe(({ kind }) => events.push(kind));
  await driver.called(1);
  await registrar.close();
  expect(events).not.toContain("driver-call");
});

describe("a driver that restarts", () => {
  /** A registered driver that goes, and comes back as `second`. */
  async function restart(second: { name: string; vendorVersion?: string }) {
    const started = await startListening(node);
    await started.accept();
    const inode = identityOf(node.socketPath(name));
    await started.driver.kill();
    await started.log.when("Lost connection");
    expect(started.registrar.status()).toMatchObject({ connected: false, state: "registered" });
    const back = await startScriptedDriver(node.csiAddress, second);
    await started.log.when("Connection restored");
    return {
      ...started,
      inode,
      [Symbol.asyncDispose]: async () => {
        await started[Symbol.asyncDispose]();
        await back.stop();
      },
    };
  }

  test("as itself or as another version changes nothing at kubelet's side", async () => {
    await using back = await restart({ name, vendorVersion: "v2" });
    const line = await back.log.when(
      "CSI driver came back as another version, its registration stays as it is",
    );
    expect(line.fields).toEqual({ was: "v1", vendorVersion: "v2" });
    expect(back.registrar.status()).toMatchObject({
      connected: true,
      state: "registered",
      counters: { driverReconnects: 1, publications: { "driver-named": 1 } },
    });
    expect(identityOf(node.socketPath(name))).toBe(back.inode);
  });

  test("under a name that is unsafe ends the registrar", async () => {
    await using back = await restart({ name: "../evil" });
    expect(await back.registrar.closed).toMatchObject({ error: { code: "UNSAFE_DRIVER_NAME" } });
    expect(readdirSync(node.pluginRegistrationPath)).toEqual([]);
    expect(readdirSync(dirname(node.pluginRegistrationPath))).toHaveLength(2);
  });
});

test("a driver that takes too long ends the registrar", async () => {
  const { registrar } = await startTestRegistrar(node, { driverTimeoutMs: 20 });
  await expect(registrar.ready).rejects.toMatchObject({ code: "DRIVER_TIMEOUT" });
  const { kind, text: message } = registrar.status().trouble ?? {};
  const error = { code: "DRIVER_TIMEOUT", message };
  expect([kind, await registrar.closed]).toMatchObject(["failed", { kind: "failed", error }]);
});

describe("reregisterOnDriverRestart", () => {
  const ONCE_MORE = { "driver-named": 1, "driver-restarted": 1 };

  test("publishes again when the driver is back", async () => {
    await using started = await startListening(node, { reregisterOnDriverRestart: true });
    await started.accept();
    const inode = identityOf(node.socketPath(name));

    await started.driver.kill();
    await using _second = await startScriptedDriver(node.csiAddress, { name });

    await started.state("listening");
    expect(identityOf(node.socketPath(name))).not.toBe(inode);
    await started.accept();
    // Once only: as long as another publication would take.
    await delay(250);
    expect(started.registrar.status().counters.publications).toEqual(ONCE_MORE);
  });

  test("publishes again when another version answers, though the driver was never seen away", async () => {
    const versions = ["v1", "v1", "v2"].map((vendorVersion) => ({ name, vendorVersion }));
    await using driver = await startScriptedDriver(node.csiAddress, ...versions);
    await using started = await startTestRegistrar(node, { reregisterOnDriverRestart: true });
    await started.state("listening");
    driver.endConnections();
    await started.log.when("The driver ended a connection, and is still there");
    await delay(50); // What this led to has begun by then.
    expect(started.registrar.status().state).toBe("listening");
    driver.endConnections();
    await started.log.when("Registration Server started", 2);
    expect(started.log.all("Lost connection")).toEqual([]);
  });

  test("waits for kubelet's status, because kubelet may be reading the node information", async () => {
    await using started = await startListening(node, { reregisterOnDriverRestart: true });
    using kubelet = dialRegistration(node.socketPath(name));
    await kubelet.getInfo();
    await started.state("asked");
    const inode = identityOf(node.socketPath(name));

    await started.driver.kill();
    await using _second = await startScriptedDriver(node.csiAddress, { name });
    await started.log.when("Connection restored");
    // What could publish now has looked by then: it takes a turn to look and a tenth of a second to publish.
    await delay(200);
    expect(started.registrar.status().state).toBe("asked");
    expect(identityOf(node.socketPath(name))).toBe(inode);

    await kubelet.notify();
    await eventually(() => expect(started.registrar.status().counters.publications).toEqual(ONCE_MORE));
    expect(identityOf(node.socketPath(name))).not.toBe(inode);
  });

  test("leaves the path from which kubelet backs off since it refused the driver", async () => {
    await node.kubelet({ timings: { backoffInitialMs: 3_600_000, backoffMaxMs: 3_600_000 } });
    const failing = await node.driver({
      faults: [{ kind: "error", method: "NodeGetInfo", code: "INTERNAL" }],
    });
    const { csiAddress: endpoint } = node;
    const given = { endpoint, reregisterOnDriverRestart: true, onRegistrationFailure: "retry" } as const;
    await using started = await startTestRegistrar(node, given);
    await started.state("refused");
    await failing.close();
    await node.driver();
    await started.state("registered");
  });
});

test("reregister() publishes a new socket where kubelet has registered the driver, and does nothing elsewhere", async () => {
  await using _driver = await startScriptedDriver(node.csiAddress, { name });
  await using started = await startTestRegistrar(node);
  const { registrar, state } = started;
  expect(registrar.reregister()).toBe(false);
  await state("listening");
  expect(registrar.reregister()).toBe(false);
  await started.accept();
  using kubelet = await started.ask();
  await eventually(() => expect(registrar.status().counters.getInfoCalls).toBe(2));
  await delay(500); // The call is counted before the state is another one, which a look at the files may hold up.
  expect(registrar.reregister()).toBe(false); // Kubelet asks again.
  await kubelet.notify();
  await eventually(() => expect(registrar.status().counters.accepted).toBe(2));
  const inode = identityOf(node.socketPath(name));
  expect(registrar.reregister()).toBe(true);
  expect(registrar.reregister()).toBe(false); // The first one is under way.
  await state("listening");
  expect(identityOf(node.socketPath(name))).not.toBe(inode);
  expect(registrar.status().counters.publications).toEqual({ "driver-named": 1, reregister: 1 });
  await registrar.close();
  expect(registrar.reregister()).toBe(false);
});
