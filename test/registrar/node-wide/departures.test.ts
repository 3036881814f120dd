import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { controlWaits } from "../../support/controlled-waits";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import type { startTestFleet as startFleet } from "../../support/fleet-node";

const waits = controlWaits({ fromMs: 20_000 });
const loading = import("../../support/fleet-node");
const startTestFleet = async (...given: Parameters<typeof startFleet>) =>
  (await loading).startTestFleet(...given);
const node = eachTest(async () => (await loading).createFleetNode());
beforeEach(() => {
  // A driver's absence has a timer. Sockets and files need all the others.
  jest.useFakeTimers({
    doNotFake: ["Date", "nextTick", "performance", "queueMicrotask", "setImmediate", "setInterval"],
  });
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const LONG_MS = 60_000;
const GONE = "CSI driver has gone";
const RETRY = "Trying again later, or when the CSI driver restarts";
const RENAMED = "CSI driver changed its name again, trying again later";
const LOST = "Lost connection";
const RESTORED = "Connection restored";

test("a driver that is back within driverGoneAfterMs keeps its registration", async () => {
  const driver = await node.driver("a.csi");
  await using started = await startTestFleet(node, { driverGoneAfterMs: LONG_MS });
  await started.register("a.csi");
  const [registration] = started.fleet.all;
  await driver.stop();
  await started.log.when(LOST);
  await node.driver("a.csi");
  await started.log.when(RESTORED);
  jest.advanceTimersByTime(LONG_MS);
  // When another one is registered it would be long gone.
  await node.driver("b.csi");
  await started.register("b.csi");
  expect(started.log.all(GONE)).toEqual([]);
  await started.state("a.csi", "registered");
  expect(started.fleet.all[0]).toBe(registration);
});

test("a driver that is lost again gets the whole driverGoneAfterMs again", async () => {
  const driver = await node.driver("a.csi");
  await using started = await startTestFleet(node, { driverGoneAfterMs: LONG_MS });
  await started.register("a.csi");
  await driver.stop();
  await started.log.when(LOST);
  jest.advanceTimersByTime(0.8 * LONG_MS);
  const second = await node.driver("a.csi");
  await started.log.when(RESTORED);
  await second.stop();
  await started.log.when(LOST, 2);
  jest.advanceTimersByTime(0.8 * LONG_MS);
  await node.driver("a.csi");
  await started.log.when(RESTORED, 2);
  expect(started.log.all(GONE)).toEqual([]);
  await started.state("a.csi", "registered");
});

test.each([
  [LONG_MS, LONG_MS],
  [0, 1_000],
])(
  "a driver that may be away for %i ms comes back without an answer: it is looked at each %i ms",
  async (...times) => {
    const [driverGoneAfterMs, lookEveryMs] = times;
    const driver = await node.driver("a.csi");
    await using started = await startTestFleet(node, { driverGoneAfterMs });
    await started.register("a.csi");
    await driver.stop();
    await started.log.when(LOST);
    const silent = await node.driver("a.csi", "hang");
    await silent.called(1);
    jest.advanceTimersByTime(driverGoneAfterMs);
    // It accepts connections: when another one is registered that is known, and nothing decided.
    await node.driver("b.csi");
    await started.register("b.csi");
    expect(started.log.all(GONE)).toEqual([]);
    await silent.kill();
    jest.advanceTimersByTime(lookEveryMs - 1);
    await node.driver("c.csi");
    await started.register("c.csi");
    expect(started.log.all(GONE)).toEqual([]);
    await eventually(() => {
      jest.advanceTimersByTime(lookEveryMs);
      expect(started.log.all(GONE)).toHaveLength(1);
    });
    await started.state("a.csi", "waiting");
    expect(node.sockets()).toEqual(["b.csi-reg.sock", "c.csi-reg.sock"]);
  },
);

test("a driver that fails after a long good life is tried again as soon as after a first failure", async () => {
  const answers = ["../evil", "../evil", "a.csi"].map((name) => ({ name }));
  const driver = await node.driver("a.csi", ...answers);
  await using started = await startTestFleet(node, { driverGoneAfterMs: 3_600_000 });
  expect((await started.log.when(RETRY)).fields.after).toBe("30s");
  await waits.end(30_000);
  expect((await started.log.when(RETRY, 2)).fields.after).toBe("60s");
  await waits.end(60_000);
  await started.register("a.csi");
  const now = performance.now.bind(performance);
  jest.spyOn(performance, "now").mockImplementation(() => now() + 300_000);
  await driver.stop();
  await node.driver("a.csi", { name: "../evil" });
  expect((await started.log.when(RETRY, 3)).fields.after).toBe("30s");
});

test("a driver that fails again and again is tried at growing distances, up to five minutes", async () => {
  await node.driver("evil", { name: "../evil" });
  await using started = await startTestFleet(node);
  for (const [nth, seconds] of [30, 60, 120, 240, 300, 300].entries()) {
    expect((await started.log.when(RETRY, nth + 1)).fields.after).toBe(`${seconds}s`);
    await waits.end(seconds * 1_000);
  }
});

/** A driver under its second name of three: it takes the next one when its connections end. */
async function renamedDriver(started: Awaited<ReturnType<typeof startTestFleet>>) {
  const names = ["a.csi", "b.csi", "b.csi", "c.csi"].map((name) => ({ name }));
  const driver = await node.driver("a.csi", ...names);
  await started.register("a.csi");
  driver.endConnections();
  await started.register("b.csi");
  return driver;
}

test("a driver that keeps changing its name starts over at once, then at the pace of failures", async () => {
  await using started = await startTestFleet(node);
  const driver = await renamedDriver(started);
  expect(started.log.all(RENAMED)).toEqual([]);
  driver.endConnections();
  expect((await started.log.when(RENAMED)).fields.after).toBe("30s");
  node.remove("a.csi");
  await started.state("a.csi", undefined); // What waits has no place when its directory goes.
});

test("a driver whose socket goes while it waits for its turn is not registered again", async () => {
  await using started = await startTestFleet(node);
  const driver = await renamedDriver(started);
  driver.endConnections();
  await started.log.when(RENAMED);
  rmSync(node.csiAddress("a.csi"));
  await node.driver("d.csi");
  await started.register("d.csi"); // The look that finds this one has missed the other's socket.
  await waits.end(30_000);
  await started.state("a.csi", undefined);
  expect(started.log.all("Cannot register the CSI driver")).toEqual([]);
});

test("a file at the socket's path is left alone, and the driver is registered when it is gone", async () => {
  writeFileSync(node.socketPath("a.csi"), "precious");
  await node.driver("a.csi");
  await using started = await startTestFleet(node);
  await started.log.when("Failed to listen on socket");
  expect(readFileSync(node.socketPath("a.csi"), "utf8")).toBe("precious");
  rmSync(node.socketPath("a.csi"));
  await started.register("a.csi");
  expect(started.log.all(RETRY)).toEqual([]);
});

test("a driver with another name after each restart is registered at its first change of name, then half a minute later", async () => {
  let driver = await node.driver("x", { name: "x0" });
  await using started = await startTestFleet(node);
  for (const [restart, name] of ["x1", "x2", "x3", "x4", "x5"].entries()) {
    if (restart < 2) await started.register(`x${restart}`);
    else await started.trouble("x", "renamed");
    await driver.stop();
    // When this one is found, that one's end is known.
    await node.driver(`w${restart}`);
    await started.state(`w${restart}`, "listening");
    driver = await node.driver("x", { name });
    if (restart > 0) await started.log.when(RENAMED);
  }
  expect(node.sockets().filter((name) => name.startsWith("x"))).toEqual([]);
  // Those that kubelet has not called wait as long.
  for (const ms of waits.pending()) if (ms <= 30_000) await waits.end(ms);
  await started.register("x5");
  expect(started.log.all(RENAMED)).toHaveLength(1);
});

test("another driver in a recreated directory is registered at once", async () => {
  await using started = await startTestFleet(node);
  for (let round = 0; round < 5; round++) {
    const name = `x${round}`;
    const driver = await node.driver("x", { name });
    await started.register(name);
    rmSync(node.at("plugins", "x"), { recursive: true });
    await driver.kill();
  }
  expect(started.log.all(RENAMED)).toEqual([]);
});

test("a driver with an unsafe name is left alone, and tried once more after a restart", async () => {
  const driver = await node.driver("a.csi", { name: "../evil" });
  await node.driver("b.csi");
  await using started = await startTestFleet(node, { driverGoneAfterMs: 3_600_000 });
  await started.register("b.csi");
  const csiAddress = node.csiAddress("a.csi");
  expect((await started.log.when("Cannot register the CSI driver")).fields).toEqual({ csiAddress });
  expect((await started.log.when(RETRY)).fields).toEqual({ csiAddress, after: "30s" });
  await started.trouble("a.csi", "failed");
  await driver.stop();
  await node.driver("a.csi");
  await started.register("a.csi");
  await started.state("b.csi", "registered");
  expect(waits.pending().filter((ms) => ms === 30_000)).toEqual([]);
});
