import { eventually } from "../support/eventually";
import { dialRegistration } from "../support/fake-kubelet";
import { identityOf } from "../support/identity-of";
import { createTestNode, startListening, startTestRegistrar, type TestNode } from "../support/registrar-node";
import { startScriptedDriver } from "../support/scripted-driver";

let node: TestNode;
beforeEach(async () => {
  node = await createTestNode();
});
afterEach(() => node[Symbol.asyncDispose]());

const name = "x.csi";

describe("reregisterOnDriverRestart", () => {
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
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(started.registrar.status().tally.publications).toEqual({
      "driver-named": 1,
      "driver-restarted": 1,
    });
  });

  test("publishes again when another version answers, though nobody saw the driver away", async () => {
    const versions = ["v1", "v2"].map((vendorVersion) => ({ name, vendorVersion }));
    await using driver = await startScriptedDriver(node.csiAddress, ...versions);
    await using started = await startTestRegistrar(node, { reregisterOnDriverRestart: true });
    await started.state("listening");
    driver.endConnections();
    await started.log.when("Registration Server started", 2);
    expect(started.log.all("Lost connection")).toEqual([]);
  });

  test("waits until kubelet, which may be reading the node information, has told the outcome", async () => {
    await using started = await startListening(node, { reregisterOnDriverRestart: true });
    using kubelet = dialRegistration(node.socketPath(name));
    await kubelet.getInfo();
    await started.state("asked");
    const inode = identityOf(node.socketPath(name));

    await started.driver.kill();
    await using _second = await startScriptedDriver(node.csiAddress, { name });
    await started.log.when("Connection restored");
    // What could publish now has looked by then: it takes a turn to look and a tenth of a second to publish.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(started.registrar.status().state).toBe("asked");
    expect(identityOf(node.socketPath(name))).toBe(inode);

    await kubelet.notify();
    await eventually(() =>
      expect(started.registrar.status().tally.publications).toEqual({
        "driver-named": 1,
        "driver-restarted": 1,
      }),
    );
    expect(identityOf(node.socketPath(name))).not.toBe(inode);
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
  const inode = identityOf(node.socketPath(name));
  expect(registrar.reregister()).toBe(true);
  expect(registrar.reregister()).toBe(true);
  await state("listening");
  expect(identityOf(node.socketPath(name))).not.toBe(inode);
  expect(registrar.status().tally.publications).toEqual({ "driver-named": 1, reregister: 1 });
  await registrar.close();
  expect(registrar.reregister()).toBe(false);
});
