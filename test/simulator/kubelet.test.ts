import { createServer } from "node:net";
import { type KubeletVersion, SIMULATED_VERSIONS } from "../../src/kubelet-rules/versions";
import type { CsiDriverOptions } from "../../src/simulator/driver/options";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { createTestNode } from "../support/registrar-node";
import { untilNotified } from "../support/until-notified";

const node = eachTest(createTestNode);

test("registers a driver, puts it on the node, and takes it off when its socket goes", async () => {
  const { kubelet, registrar } = await node.all({
    kubelet: { nodeLabels: { zone: "a" } },
    driver: { topology: { rack: "7" }, maxVolumes: 39 },
  });

  await expect(kubelet.registered("x.csi")).resolves.toMatchObject({
    pluginType: "CSIPlugin",
    endpoint: node.csiAddress,
    socketPath: node.socketPath(),
  });
  await untilNotified(kubelet, await kubelet.registered("x.csi"));
  expect(kubelet.csiNode()).toEqual({
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: {
      name: "node-1",
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: kubelet.node().metadata.uid }],
    },
    spec: { drivers: [{ name: "x.csi", nodeID: "n1", topologyKeys: ["rack"], allocatable: { count: 39 } }] },
  });
  expect(kubelet.node().metadata).toMatchObject({
    labels: { zone: "a", rack: "7" },
    annotations: { "csi.volume.kubernetes.io/nodeid": '{"x.csi":"n1"}' },
  });
  expect(registrar.events.history()).toMatchObject([
    { kind: "called", method: "GetInfo" },
    { kind: "called", method: "NotifyRegistrationStatus" },
    { kind: "notified", registered: true, error: "" },
  ]);
  expect(kubelet.events.history("called")).toMatchObject([
    { call: "dial", socketPath: node.socketPath(), result: { kind: "ok" } },
    { call: "GetInfo", result: { kind: "ok", answer: { name: "x.csi", supportedVersions: ["1.0.0"] } } },
    { call: "NodeGetInfo", socketPath: node.csiAddress, result: { kind: "ok", answer: { nodeId: "n1" } } },
    { call: "NotifyRegistrationStatus", socketPath: node.socketPath() },
  ]);
  const kinds = kubelet.events.history().map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind !== "file-ignored" && kind !== "calling" && kind !== "called")).toEqual([
    "started",
    "socket-seen",
    "operation-started",
    "node-changed",
    "csi-node-changed",
    "registered",
  ]);

  await registrar.close();
  await kubelet.deregistered("x.csi");
  expect(kubelet.csiNode().spec.drivers).toEqual([]);
  expect(kubelet.node().metadata).toMatchObject({ labels: { rack: "7" }, annotations: {} });
});

test("a socket that was replaced is deregistered, and registered anew", async () => {
  const { kubelet } = await node.all();
  await untilNotified(kubelet, await kubelet.registered("x.csi"));
  await node.plugin();
  await expect(kubelet.events.when("deregistered")).resolves.toMatchObject({ because: "socket-replaced" });
  await kubelet.registered("x.csi");
});

test("what a caller changes in the objects and events changes nothing", async () => {
  const { kubelet } = await node.all({ driver: { topology: { rack: "7" } } });
  const registered = await kubelet.registered("x.csi");
  const before = JSON.stringify([kubelet.node(), kubelet.csiNode(), kubelet.events.history()]);
  (kubelet.csiNode().spec.drivers as unknown[]).pop();
  Object.assign(kubelet.node().metadata.labels, { rack: "8" });
  (kubelet.events.history() as unknown[]).pop();
  expect(() => Object.assign(registered, { driverName: "y.csi" })).toThrow(TypeError);
  expect(JSON.stringify([kubelet.node(), kubelet.csiNode(), kubelet.events.history()])).toBe(before);

  const { csiNode } = await kubelet.events.when("csi-node-changed");
  (csiNode.spec.drivers as unknown[]).pop();
  expect(kubelet.csiNode().spec.drivers).toHaveLength(1);
});

test.each(SIMULATED_VERSIONS)(
  "kubelet %s has all of it done before the registrar hears so",
  async (version) => {
    const kubelet = await node.kubelet({ version });
    await node.driver();
    let atNotice: unknown;
    const before = (method: string) => {
      if (method !== "NotifyRegistrationStatus") return;
      atNotice = [kubelet.events.history("registered").length, kubelet.csiNode().spec.drivers.length];
    };
    const registrar = await node.plugin({ before });
    await registrar.events.when("notified");
    await registrar.close();
    await kubelet.deregistered("x.csi");
    expect(kubelet.events.history("deregistered")).toHaveLength(1);
    expect(atNotice).toEqual([1, 1]);
  },
);

test.each<[version: KubeletVersion, listed: string[], watched: string | undefined]>([
  ["1.35", ["v1.DRAResourceHealth"], undefined],
  ["1.36", [], "v1alpha1.DRAResourceHealth"],
  ["1.37", [], undefined],
  ["1.37", ["v1alpha1.DRAResourceHealth"], "v1alpha1.DRAResourceHealth"],
  ["1.37", ["v1alpha1.DRAResourceHealth", "v1.DRAResourceHealth"], "v1.DRAResourceHealth"],
])("kubelet %s watches the health of a DRA driver that lists %j: %s", async (version, listed, watched) => {
  const kubelet = await node.kubelet({ version });
  await node.plugin({ info: { type: "DRAPlugin", supportedVersions: ["v1.DRAPlugin", ...listed] } });
  await kubelet.registered("x.csi");
  expect(kubelet.events.history("health-service-chosen").map(({ service }) => service)).toEqual(
    watched === undefined ? [] : [watched],
  );
});

// What else kubelet refuses, the comparison with its own code plays: test/kubelet/fidelity.
test.each<[problem: string, text: string, driver: Partial<CsiDriverOptions>]>([
  ["its topology is no label", "metadata.labels: Invalid value", { topology: { zone: "not this" } }],
  ["its node ID is too long", "must be 256 characters or less", { nodeId: "i".repeat(257) }],
  ["NodeGetInfo hangs", "context deadline exceeded", { faults: [{ kind: "hang", method: "NodeGetInfo" }] }],
])("refuses a driver when %s", async (_problem, text, driver) => {
  // Short only where nobody answers: on a busy machine an answer may take longer.
  const { kubelet, registrar } = await node.all({
    kubelet: driver.faults ? { timings: { nodeGetInfoMs: 200 } } : {},
    driver,
  });
  const { error, registered } = await registrar.events.when("notified");
  expect(registered).toBe(false);
  expect(error).toContain("RegisterPlugin error -- plugin registration failed with err: ");
  expect(error).toContain(text);
  await expect(kubelet.refused("x.csi")).resolves.toMatchObject({ stage: "registration", reason: error });
  expect(kubelet.csiNode().spec.drivers).toEqual([]);
  expect(kubelet.node().metadata.annotations).toEqual({});
  expect(kubelet.events.history("deregistered")).toEqual([]);
  await registrar.events.when("left");
});

test.each(["close", "restart"] as const)("nothing of a dial that a %s cuts short goes on", async (end) => {
  let connections = 0;
  await using _silent = createServer((socket) => {
    connections += 1;
    socket.on("error", () => {}).resume(); // Unread, it would not see that kubelet has hung up, and stay open.
  }).listen(`${node.pluginDir}/silent.sock`);
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

  const before = timers();
  const kubelet = await node.kubelet();
  await eventually(() => expect(connections).toBe(1));
  if (end === "restart") {
    await kubelet.restart({
      whileDown: () => eventually(() => expect(timers()).toBeLessThanOrEqual(before)),
    });
  }
  await kubelet.close();
  await eventually(() => expect(timers()).toBeLessThanOrEqual(before));
});
