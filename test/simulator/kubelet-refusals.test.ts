import type { CsiDriverOptions } from "../../src/simulator/driver/options";
import { eachTest } from "../support/each-test";
import { createTestNode } from "../support/registrar-node";
import { eventsOf } from "./events-of";

const node = eachTest(createTestNode);

const quick = { timings: { backoffInitialMs: 20 } };
const failed = "RegisterPlugin error -- plugin registration failed with err: ";

const nodeGetInfo = { method: "NodeGetInfo" } as const;
const endless = [{ kind: "hang", ...nodeGetInfo }] as const;
const broken = [{ kind: "error", ...nodeGetInfo, code: "INTERNAL", message: "boom" }] as const;

type Row = [problem: string, text: string, driver?: Partial<CsiDriverOptions>, endpoint?: string];

test.each<Row>([
  ["nobody listens at its endpoint", 'dial unix PATH: connect: no such file or directory"'],
  ["its node ID is empty", "driverNodeID must not be empty", { nodeId: "" }],
  ["its topology clashes with a label", 'existing label is "zone":"a"', { topology: { zone: "b" } }],
  ["its topology is no label", "metadata.labels: Invalid value", { topology: { zone: "not this" } }],
  ["its node ID is too long", "must be 256 characters or less", { nodeId: "i".repeat(257) }],
  ["NodeGetInfo fails", "rpc error: code = Internal desc = boom", { faults: broken }],
  ["NodeGetInfo hangs", "context deadline exceeded", { faults: endless }],
  ["its endpoint is too long", "connect: invalid argument", {}, `/${"p".repeat(107)}`],
  ["its endpoint is a URL", "dial unix unix:///csi.sock: connect: no such file", {}, "unix:///csi.sock"],
])("refuses a driver when %s", async (...[problem, text, driver, endpoint]) => {
  // Short only where nobody answers: on a busy machine an answer may take longer.
  const timings = problem === "NodeGetInfo hangs" ? { nodeGetInfoMs: 200 } : {};
  const kubelet = await node.kubelet({ nodeLabels: { zone: "a" }, timings });
  if (driver) await node.driver(driver);
  const registrar = await node.plugin(endpoint === undefined ? {} : { info: { endpoint } });
  const { error, registered } = await registrar.events.when("notified");
  expect(registered).toBe(false);
  expect(error).toContain(failed);
  expect(error).toContain(text.replace("PATH", node.csiAddress));
  await expect(kubelet.refused("x.csi")).resolves.toMatchObject({ stage: "registration", reason: error });
  expect(kubelet.csiNode().spec.drivers).toEqual([]);
  expect(kubelet.node().metadata.annotations).toEqual({});
  expect(eventsOf(kubelet, "deregistered")).toEqual([]);
  await registrar.events.when("left");
});

test("kubelet 1.36 tries a failed registration again, with a growing backoff, until it succeeds", async () => {
  // Long enough for a look in between.
  const { kubelet } = await node.all({
    kubelet: { timings: { backoffInitialMs: 300 } },
    driver: { faults: [{ kind: "error", method: "NodeGetInfo", code: "UNAVAILABLE", times: 2 }] },
  });
  await kubelet.registered("x.csi");
  expect(eventsOf(kubelet, "failed")).toMatchObject([
    { backoffMs: 300, retries: true },
    { backoffMs: 600, retries: true },
  ]);
  const waits = eventsOf(kubelet, "waiting").map(({ because }) => because.kind);
  expect(waits).toEqual(["backoff", "backoff"]);
});

test("kubelet 1.35 leaves a failed registration at that until the socket is made anew", async () => {
  const { kubelet, driver } = await node.all({
    kubelet: { ...quick, version: "1.35" },
    driver: { faults: [{ kind: "error", ...nodeGetInfo, code: "UNAVAILABLE", times: 1 }] },
  });
  await expect(kubelet.events.when("failed")).resolves.toMatchObject({ retries: false });
  const retried = kubelet.events.when("operation-started", {
    from: "now",
    where: (e) => e.operation === "register",
  });
  await node.plugin();
  await retried;
  await kubelet.registered("x.csi");
  const operations = eventsOf(kubelet, "operation-started").map(({ operation }) => operation);
  expect(operations).toEqual(["register", "unregister", "register"]);
  expect(driver.events.history().filter(({ kind }) => kind === "called")).toHaveLength(2);
});

test("a failed validation is tried again by every kubelet", async () => {
  const { kubelet, registrar } = await node.all({
    kubelet: {
      ...quick,
      version: "1.20",
      faults: [{ kind: "refuse", stage: "validation", reason: "not today", times: 1 }],
    },
  });
  await expect(registrar.events.when("notified")).resolves.toMatchObject({
    error: "RegisterPlugin error -- plugin validation failed with err: not today",
  });
  await kubelet.registered("x.csi");
  expect(eventsOf(kubelet, "failed")[0]?.error).toBe(
    `RegisterPlugin error -- failed to send error at socket ${node.socketPath()}, err: RegisterPlugin error -- plugin validation failed with err: not today`,
  );
});

test("a driver without a name is refused at its registration, and then stands in its own way", async () => {
  const kubelet = await node.kubelet(quick);
  const registrar = await node.plugin({ info: { name: "" } });
  await registrar.events.when("notified", { where: ({ error }) => error.includes("is already registered") });
  expect(eventsOf(kubelet, "refused")[0]).toMatchObject({
    stage: "registration",
    reason: `${failed}driver name is empty`,
  });
});

test("an equal version under another path is refused until the first is gone", async () => {
  const kubelet = await node.kubelet(quick);
  await node.driver();
  const first = await node.plugin();
  await kubelet.registered("x.csi");
  const second = await node.plugin({ socketPath: `${node.pluginDir}/other.sock` });
  const { registered, error } = await second.events.when("notified");
  expect(registered).toBe(false);
  expect(error).toContain('is already registered with a higher supported version: "1.0.0"');
  await first.close();
  await second.events.when("notified", { where: ({ registered }) => registered });
  expect(kubelet.csiNode().spec.drivers).toHaveLength(1);
});

test("a higher version takes the name over, and the end of either socket takes the driver off", async () => {
  const kubelet = await node.kubelet(quick);
  await node.driver();
  const first = await node.plugin();
  await kubelet.registered("x.csi");
  const socketPath = `${node.pluginDir}/other.sock`;
  const second = await node.plugin({ socketPath, info: { supportedVersions: ["1.1.0"] } });
  await second.events.when("notified", { where: ({ registered }) => registered });
  await first.close();
  await kubelet.deregistered("x.csi");
  expect(kubelet.csiNode().spec.drivers).toEqual([]);
});

test("a higher version that fails takes the registered one along", async () => {
  const { kubelet, driver } = await node.all();
  await kubelet.registered("x.csi");
  driver.setFaults([{ kind: "error", method: "NodeGetInfo", code: "INTERNAL" }]);
  await node.plugin({ socketPath: `${node.pluginDir}/other.sock`, info: { supportedVersions: ["1.1.0"] } });
  expect((await kubelet.events.when("deregistered")).because).toBe("registration-failed");
  expect(kubelet.csiNode().spec.drivers).toEqual([]);
});
