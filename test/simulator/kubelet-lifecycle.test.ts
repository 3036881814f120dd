import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { attempt } from "../../src/base/errors";
import { type SimulatedKubelet, startKubelet } from "../../src/simulator/kubelet/kubelet";
import { eachTest } from "../support/each-test";
import { recordLog } from "../support/recorded-log";
import { createTestNode, DRIVER } from "../support/registrar-node";
import { untilNotified } from "../support/until-notified";

afterEach(() => void jest.useRealTimers());
const node = eachTest(createTestNode);

test("each failure doubles a path's wait up to the longest, a success forgets it", async () => {
  const refuse = (times: number) => [{ kind: "refuse", error: "no", times }] as const;
  const timings = { backoffInitialMs: 30, backoffMaxMs: 90 };
  const { kubelet, registrar } = await node.all({ kubelet: { faults: refuse(3), timings } });
  await untilNotified(kubelet, await kubelet.registered("x.csi")); // Without an answer that would be a failure, too.
  await registrar.close();
  await kubelet.deregistered("x.csi");
  kubelet.setFaults(refuse(1));
  await node.plugin();
  await kubelet.events.when("failed", { from: "now" });
  const failures = kubelet.events.history("failed");
  expect(failures.map(({ backoffMs }) => backoffMs)).toEqual([30, 60, 90, 30]);
  expect(kubelet.events.history("waiting").length).toBeLessThanOrEqual(failures.length);
  const [, ...retries] = kubelet.events.history("operation-started");
  for (const [index, { atMs, backoffMs }] of failures.slice(0, 3).entries())
    expect(retries[index]?.atMs).toBeGreaterThanOrEqual(atMs + backoffMs - 2);
});

test("a text with a replacement character that was sent is UTF-8", async () => {
  const kubelet = await node.kubelet();
  await node.plugin({ info: { type: "\ufffd" } });
  expect(await kubelet.events.when("refused")).toMatchObject({ pluginType: "\ufffd" });
});

test("close() returns one promise, ends a running call, and rejects the waits", async () => {
  const { kubelet } = await node.all({ driver: { faults: [{ kind: "hang", method: "NodeGetInfo" }] } });
  await kubelet.events.when("calling", { where: ({ call }) => call === "NodeGetInfo" });
  const held = () =>
    readdirSync("/proc/self/fd").map((fd) => attempt(() => readlinkSync(`/proc/self/fd/${fd}`)));
  const socket = kubelet.events.history("socket-seen")[0]?.socketPath;
  expect(held()).toContain(socket);
  const inVain = kubelet.registered("x.csi");
  const closing = kubelet.close();
  expect(kubelet.close()).toBe(closing);
  expect(kubelet[Symbol.asyncDispose]()).toBe(closing);
  await expect(inVain).rejects.toMatchObject({ code: "ABORTED" });
  await closing;
  expect(held()).not.toContain(socket);
  expect(kubelet.events.history().at(-1)).toMatchObject({ kind: "stopped", because: "close" });
  expect(kubelet.events.history("refused")).toEqual([]);
  await expect(kubelet.restart()).rejects.toMatchObject({ code: "ABORTED" });
});

test("a kubelet that is closed has no driver registered", async () => {
  const { kubelet } = await node.all();
  await untilNotified(kubelet, await kubelet.registered("x.csi"));
  await kubelet.close();
  await kubelet.deregistered("x.csi");
  await expect(kubelet.registered("x.csi")).rejects.toMatchObject({ code: "ABORTED" });
});

test("a kubelet that is killed during a call changes and reports nothing afterwards", async () => {
  const { kubelet, driver } = await node.all();
  await kubelet.registered("x.csi");
  driver.setFaults([{ kind: "hang", method: "NodeGetInfo", times: 1 }]);
  await node.plugin({ socketPath: `${node.pluginDir}/v2.sock`, info: { supportedVersions: ["1.1.0"] } });
  await node.plugin({ socketPath: `${node.pluginDir}/mute.sock`, before: () => new Promise(() => {}) });
  await driver.events.when("fault-applied");
  await kubelet.events.when("calling", {
    where: ({ call, socketPath }) => call === "GetInfo" && socketPath.endsWith("/mute.sock"),
  });
  await kubelet.close();
  await new Promise((resolve) => setTimeout(resolve, 50)); // Five rounds of its loop.
  expect(kubelet.events.history().at(-1)).toMatchObject({ kind: "stopped" });
  expect(kubelet.csiNode().spec.drivers).toHaveLength(1);
  expect(kubelet.events.history("failed")).toEqual([]);
  expect(kubelet.events.history("called").filter(({ result }) => result.kind === "error")).toEqual([]);
});

test("a kubelet that is closed makes no call that was put off", async () => {
  const faults = [{ kind: "slow", before: "GetInfo", delayMs: 3_600_000 }] as const;
  const { kubelet } = await node.all({ kubelet: { faults } });
  await kubelet.events.when("fault-applied");
  await kubelet.close();
  expect(kubelet.events.history("calling").map(({ call }) => call)).not.toContain("GetInfo");
});

test("the signal closes kubelet, also during a restart", async () => {
  const stop = new AbortController();
  const kubelet = await node.kubelet({ signal: stop.signal });
  await kubelet.restart({ whileDown: () => stop.abort() });
  await kubelet.close();
  expect(kubelet.events.history("started")).toHaveLength(1);
  await expect(node.kubelet({ signal: stop.signal })).rejects.toMatchObject({ code: "ABORTED" });
});

test("fake timers stop only kubelet's gRPC calls", async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] });
  const kubelet = await node.kubelet({ timings: { backoffInitialMs: 20, dialMs: 50, nodeGetInfoMs: 50 } });
  await using mute = createServer((socket) => socket.resume()).listen(node.socketPath("mute"));
  await kubelet.events.when("failed", { where: ({ socketPath }) => socketPath === mute.address() });
  await node.driver({ listenAfterMs: 1, faults: [{ kind: "hang", method: "NodeGetInfo", times: 1 }] });
  await node.plugin();
  const { error: reason } = await kubelet.refused(DRIVER);
  expect(reason).toContain("rpc error: code = DeadlineExceeded desc = context deadline exceeded");
  await kubelet.registered(DRIVER);
});

test("fake timers that were there before the import stop no wait", async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] });
  await jest.isolateModulesAsync(async () => {
    const kit: typeof import("../../src/testing") = require("../../src/testing");
    const kubelet = await kit.startKubelet({ pluginRegistrationPath: node.pluginDir });
    const wait = kubelet.registered(DRIVER, { timeoutMs: 20 });
    await expect(wait).rejects.toThrow(/did not come within 20 ms; seen: started/);
    await kubelet.close();
  });
});

describe("faults", () => {
  test("refuse, some times, one driver only", async () => {
    const { kubelet, registrar } = await node.all({
      kubelet: {
        faults: [{ kind: "refuse", error: "API server is away", times: 2, driverName: "x.csi" }],
        timings: { backoffInitialMs: 200 },
      },
    });
    await kubelet.refused("x.csi");
    await expect(kubelet.refused("x.csi")).resolves.toMatchObject({ stage: "registration" });
    await node.plugin({ socketPath: `${node.pluginDir}/other.sock`, info: { name: "other.csi" } });
    await kubelet.registered("other.csi");
    await untilNotified(kubelet, await kubelet.registered("x.csi"));
    // A refusal is history once the driver is registered.
    const later = kubelet.refused("x.csi", { signal: AbortSignal.abort() });
    await expect(later).rejects.toMatchObject({ code: "ABORTED" });
    const errors = registrar.events.history("notified").map(({ error }) => error);
    const refusal = "RegisterPlugin error -- plugin registration failed with err: API server is away";
    expect(errors).toEqual([refusal, refusal, ""]);
    const waiting = { because: { kind: "backoff" } };
    expect(kubelet.events.history("waiting")).toMatchObject([waiting, waiting]);
    expect(kubelet.events.history("fault-applied")).toHaveLength(2);
  });

  test("never call, until setFaults; reported once", async () => {
    const { kubelet, registrar } = await node.all({ kubelet: { faults: [{ kind: "never-call" }] } });
    await expect(kubelet.events.when("waiting")).resolves.toMatchObject({ because: { kind: "never-call" } });
    expect(registrar.events.history()).toEqual([]);
    kubelet.setFaults([]);
    await kubelet.registered("x.csi");
    expect(kubelet.events.history("waiting")).toHaveLength(1);
  });

  test("drop the connection before the notice, of the driver that is meant", async () => {
    const kind = "drop-before-status";
    const faults = [{ kind, driverName: "y.csi" } as const, { kind, times: 1 } as const];
    const { kubelet, registrar } = await node.all({ kubelet: { faults, timings: { backoffInitialMs: 20 } } });
    await registrar.events.when("notified");
    const methods = registrar.events.history("called").map(({ method }) => method);
    expect(methods).toEqual(["GetInfo", "GetInfo", "NotifyRegistrationStatus"]);
    expect(kubelet.events.history("deregistered")).toMatchObject([{ because: "status-lost" }]);
  });
});

test("refused() after a restart waits for the refusal after it", async () => {
  const faults = [{ kind: "refuse", error: "no" }] as const;
  const { kubelet } = await node.all({ kubelet: { faults } });
  const before = await kubelet.refused("x.csi");
  const restarted = kubelet.restart();
  const after = kubelet.refused("x.csi");
  await restarted;
  expect(await after).not.toBe(before);
});

test("registered() during a restart waits for the registration after it", async () => {
  const { kubelet } = await node.all();
  const before = await kubelet.registered("x.csi");
  const restarted = kubelet.restart();
  const after = await kubelet.registered("x.csi");
  await restarted;
  expect(after.atMs).toBeGreaterThanOrEqual(before.atMs);
  expect(after).not.toBe(before);
  expect(kubelet.events.history("registered")).toEqual([before, after]);
});

test("kubelet comes back after an error of whileDown, which is not an unhandled rejection", async () => {
  const kubelet = await node.kubelet();
  await node.driver();
  const whileDown = () => {
    throw new Error("a typo in the test");
  };
  await expect(kubelet.restart({ whileDown })).rejects.toThrow("a typo in the test");
  await node.plugin();
  await kubelet.registered("x.csi");
  void kubelet.restart();
  void kubelet.close();
  void kubelet.restart();
  await kubelet.close();
});

test.each<[string, (kubelet: SimulatedKubelet) => Promise<void>]>([
  ["waits for a restart of its own", (kubelet) => kubelet.restart()],
  ["never ends", () => new Promise(() => {})],
])("kubelet comes back after waitTimeoutMs if whileDown %s", async (_what, act) => {
  const kubelet = await node.kubelet({ waitTimeoutMs: 50 });
  const restarted = kubelet.restart({ whileDown: () => act(kubelet) });
  await expect(restarted).rejects.toMatchObject({
    code: "TIMEOUT",
    message: expect.stringMatching(/^whileDown of restart did not end within 50 ms; it must not wait for /),
  });
  await kubelet.restart();
  expect(kubelet.events.history().at(-1)).toMatchObject({ kind: "started" });
  await kubelet.close();
});

test.each<[string, (closed: Promise<void>) => unknown, object]>([
  ["waits for that", (closed) => closed, { status: "fulfilled" }],
  ["fails", () => Promise.reject("a typo"), { status: "rejected", reason: "a typo" }],
  ["never ends", () => new Promise(() => {}), { status: "rejected", reason: { code: "TIMEOUT" } }],
])("close() waits for no whileDown: for one that %s", async (_what, act, expected) => {
  const kubelet = await node.kubelet({ waitTimeoutMs: 200 });
  const down = new Promise<void>((resolve) => kubelet.events.subscribe("stopped", () => resolve()));
  const restarted = kubelet.restart({ whileDown: async () => void (await act(kubelet.close())) });
  await down;
  await kubelet.close();
  expect(kubelet.events.history("stopped")).toMatchObject([{ because: "restart" }]);
  expect(await Promise.allSettled([restarted])).toMatchObject([expected]);
  expect(kubelet.events.history("started")).toHaveLength(1);
});

test("the log names the kubelet that simulates another version", async () => {
  const { logger, records } = recordLog();
  await (await node.kubelet({ version: "1.33", logger })).close();
  const kubelet = await node.kubelet({ version: "v1.30.4", logger });
  const fields = { version: "v1.30.4", simulated: "1.33" };
  const message = "Simulating the kubelet that behaves like this version";
  expect(records).toMatchObject([{ message, fields }]);
  expect(kubelet.events.history("started")).toMatchObject([{ ...fields, nodeName: "node-1" }]);
});

test("faults and the options of restart() are checked", async () => {
  const kubelet = await node.kubelet();
  const noOptions = "restart takes an object of options, not a function";
  await expect(kubelet.restart((() => {}) as never)).rejects.toThrow(noOptions);
  expect(() => kubelet.setFaults([{ kind: "never-cal" as "never-call" }])).toThrow("did you mean");
  await kubelet.close();
  expect(() => kubelet.setFaults([])).toThrow("the simulated kubelet is closed");
});

test("kubelet makes its directory, or rejects with the reason", async () => {
  writeFileSync(`${node.pluginDir}/file`, "");
  for (const pluginRegistrationPath of [`${node.pluginDir}/file`, "/proc/none/one"]) {
    const message = expect.stringContaining(pluginRegistrationPath);
    const blocked = startKubelet({ pluginRegistrationPath });
    await expect(blocked).rejects.toMatchObject({ code: "SOCKET_UNUSABLE", message });
  }
  await node.kubelet({ pluginRegistrationPath: `${node.pluginDir}/new/one` });
  expect(existsSync(`${node.pluginDir}/new/one`)).toBe(true);
});
