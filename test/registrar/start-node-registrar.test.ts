import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { startNodeRegistrar } from "../../src/registrar/start-node-registrar";
import { registerOnce } from "../support/dial-registration";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { createFleetNode, startTestFleet } from "../support/fleet-node";
import { startScriptedDriver } from "../support/scripted-driver";
import { startStuckSocket } from "../support/stuck-socket";

const node = eachTest(createFleetNode);

const TAKEN = "Another CSI driver on this node has the name, waiting";
const FAILED = "Cannot register the CSI driver";

test("each driver is published once, with its path as kubelet sees it", async () => {
  await node.driver("a.csi");
  await using started = await startTestFleet(node, {
    csiAddresses: [node.csiAddress("*"), node.csiAddress("folder"), node.at("away", "*", "s")],
    endpoints: ["/host/*/csi.sock", "/host/folder/csi.sock", "/away/*/s"],
  });
  await node.driver("folder", { name: "b.csi" });
  expect(await started.register("a.csi")).toBe("/host/a.csi/csi.sock");
  expect(await started.register("b.csi")).toBe("/host/folder/csi.sock");
  await Promise.all([started.state("a.csi", "registered"), started.state("folder", "registered")]);
  expect(started.fleet.scope).toBe("node-wide");
  expect(started.fleet.all).toHaveLength(2);
  expect(started.log.all(TAKEN)).toEqual([]);
});

test("a directory and a symbolic link to it have one driver; the link takes over when the directory's name goes", async () => {
  await node.driver("a.csi");
  symlinkSync(node.at("plugins", "a.csi"), node.at("plugins", "link"));
  await using started = await startTestFleet(node);
  expect(await started.register("a.csi")).toBe("/host/a.csi/csi.sock");
  await node.driver("b.csi");
  await started.register("b.csi");
  expect(started.fleet.all.map(({ csiAddress }) => csiAddress)).toEqual(
    ["a.csi", "b.csi"].map(node.csiAddress),
  );
  renameSync(node.at("plugins", "a.csi"), node.at("elsewhere"));
  symlinkSync(node.at("elsewhere"), node.at("plugins", "link~"));
  renameSync(node.at("plugins", "link~"), node.at("plugins", "link"));
  await started.state("link", "listening");
  expect(await started.register("a.csi")).toBe("/host/link/csi.sock");
  expect(started.log.all(TAKEN)).toEqual([]);
});

describe("what happens to one driver", () => {
  test("one that accepts no connections is reported until it answers", async () => {
    mkdirSync(node.at("plugins", "a.csi"));
    const stuck = await startStuckSocket(node.csiAddress("a.csi"));
    await using started = await startTestFleet(node);
    const troubles = () => started.fleet.all.map((one) => one.status().trouble?.kind);
    await eventually(() => expect(troubles()).toEqual(["no-answer"]));
    await stuck[Symbol.asyncDispose]();
    rmSync(node.csiAddress("a.csi"));
    await node.driver("a.csi");
    await started.register("a.csi");
    expect(troubles()).toEqual([undefined]);
  });

  test("a directory whose name makes the socket's path too long is only logged", async () => {
    const longName = "l".repeat(107);
    mkdirSync(node.at("plugins", longName));
    symlinkSync(node.at("plugins", longName), node.at("short"));
    await using started = await startTestFleet(node);
    await using _driver = await startScriptedDriver(node.at("short", "csi.sock"), { name: "long.csi" });
    const { fields, error } = await started.log.when(FAILED);
    expect(fields).toEqual({ csiAddress: node.csiAddress(longName) });
    expect(String(error)).toContain("107 bytes at most");
    const trouble = { kind: "failed", text: (error as Error).message };
    const unnamed = { identity: undefined, connected: false, trouble };
    expect(started.fleet.all.map((one) => one.status())).toMatchObject([unnamed]);
    await node.driver("a.csi");
    await started.register("a.csi");
  });

  test("a refusal ends nothing; the log says to exclude a driver without a node service", async () => {
    await node.driver("a.csi");
    const endpoints = [node.csiAddress("*")];
    await using started = await startTestFleet(node, { endpoints });
    const seen: unknown[] = [];
    started.fleet.subscribe("state-changed", ({ change, registration: { csiAddress } }) =>
      seen.push([csiAddress, change.to]),
    );
    await started.state("a.csi", "listening");
    await registerOnce(node.socketPath("a.csi"), "rpc error: code = Unimplemented desc = unknown service");
    await started.state("a.csi", "refused");
    expect(seen.slice(-2)).toEqual(["asked", "refused"].map((state) => [node.csiAddress("a.csi"), state]));
    const { fields } = await started.log.when("Kubelet refused the driver");
    expect(fields.hint).toContain("leave it out with --deny-drivers=a.csi");
  });
});

describe("how it starts and ends", () => {
  test.each([
    ["a time no timer can wait", { driverGoneAfterMs: 2 ** 31 }, "driverGoneAfterMs is 2147483648"],
    ["no path", { csiAddresses: ["*/csi.sock"] }, 'csiAddresses "*/csi.sock" is not a unix'],
    ["a relative host path", { endpoints: ["*/a"] }, 'endpoints "*/a" is not a unix'],
    ["patterns that do not fit", { endpoints: ["/a"] }, "1 '*' in "],
    [
      "a path too long for a socket",
      { csiAddresses: [`/${"a".repeat(120)}/*`] },
      "csiAddresses has 123 bytes; it takes ",
    ],
    ["a name with a path where none belongs", { names: { deny: ["a=/b"] } }, 'denied driver "a=/b"'],
  ])("%s is refused at once", async (_, options, why) => {
    await expect(startNodeRegistrar({ ...node.options, ...options })).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining(`startNodeRegistrar: ${why}`),
    });
  });

  test("its signal closes it as close() does, which returns the same promise", async () => {
    await node.driver("a.csi");
    const stop = new AbortController();
    const fleet = await startNodeRegistrar({ ...node.options, signal: stop.signal });
    stop.abort();
    expect(fleet.close()).toBe(fleet.closed);
    expect(await fleet.closed).toEqual({ kind: "stopped" });
    expect(fleet.all).toEqual([]);
    expect(node.sockets()).toEqual([]);
  });

  test("close() resolves when the socket for probes is gone, too", async () => {
    const asked = () => readdirSync(node.pluginRegistrationPath).filter((name) => name.startsWith(".ask-"));
    const fleet = await startNodeRegistrar(node.options);
    await eventually(() => expect(asked()).toHaveLength(1));
    await fleet.close();
    expect(asked()).toEqual([]);
  });

  test("destroy() destroys each registration, also during close()", async () => {
    await node.driver("a.csi");
    await node.driver("b.csi");
    await using started = await startTestFleet(node);
    await Promise.all(["a.csi", "b.csi"].map((name) => started.state(name, "listening")));
    const destroyed = started.fleet.all.map((one) => jest.spyOn(one, "destroy"));
    const closing = started.fleet.close();
    expect(started.fleet.destroy()).toBe(closing);
    expect(destroyed.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    await closing;
  });
});
