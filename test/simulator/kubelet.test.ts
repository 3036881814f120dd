import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { SIMULATED_VERSIONS } from "../../src/kubelet-rules/versions";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { createTestNode } from "../support/registrar-node";
import { untilNotified } from "../support/until-notified";

// What kubelet sees, refuses and writes, the comparison with its own code plays: test/kubelet/fidelity.
const node = eachTest(createTestNode);

test("registers a driver, puts it on the node, and takes it off when its socket goes", async () => {
  const { kubelet, registrar } = await node.all({
    kubelet: { nodeLabels: { zone: "a" } },
    driver: { topology: { zone: "a", rack: "7" }, maxVolumes: 39 },
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
    spec: {
      drivers: [{ name: "x.csi", nodeID: "n1", topologyKeys: ["rack", "zone"], allocatable: { count: 39 } }],
    },
  });
  expect(kubelet.node().metadata).toMatchObject({
    labels: { zone: "a", rack: "7" },
    annotations: { "csi.volume.kubernetes.io/nodeid": '{"x.csi":"n1"}' },
  });
  await registrar.close();
  await kubelet.deregistered("x.csi");
  expect(kubelet.csiNode().spec.drivers).toEqual([]);
  expect(kubelet.node().metadata).toMatchObject({ labels: { rack: "7" }, annotations: {} });
});

test("every event of a registration, of its end, and of a restart", async () => {
  const { kubelet, registrar } = await node.all({
    kubelet: { version: "1.37", nodeName: "n-2" },
    driver: { topology: { rack: "7" }, maxVolumes: 39 },
  });
  await untilNotified(kubelet, await kubelet.registered("x.csi"));
  writeFileSync(`${node.pluginDir}/file`, "");
  await kubelet.events.when("file-ignored", { where: ({ because }) => because === "not-a-socket" });
  await registrar.close();
  await kubelet.deregistered("x.csi");
  await kubelet.restart();
  await kubelet.close();
  const begun = new Map<string, number>();
  const told = kubelet.events.history().flatMap(({ atMs, ...event }) => {
    if (event.kind === "file-ignored" && event.because === "hidden") return [];
    if (event.kind === "calling") begun.set(event.call, atMs);
    if (event.kind !== "called") return JSON.stringify(event);
    const { durationMs, ...rest } = event;
    expect(Math.abs(atMs - (begun.get(event.call) ?? 0) - durationMs)).toBeLessThan(1_000);
    return JSON.stringify(rest);
  });
  const uid = kubelet.node().metadata.uid;
  expect(["", ...told, ""].join("\n").replaceAll(node.path, "NODE").replaceAll(uid, "UID")).toMatchSnapshot();
});

test("a slow call is the one that the fault names", async () => {
  const slow = (["NodeGetInfo", "GetInfo"] as const).map(
    (before) => ({ kind: "slow", before, delayMs: 1 }) as const,
  );
  const { kubelet } = await node.all({ kubelet: { faults: slow } });
  await kubelet.registered("x.csi");
  const told = kubelet.events.history().flatMap((event) => {
    if (event.kind === "fault-applied" && event.fault.kind === "slow") return `slow ${event.fault.before}`;
    return event.kind === "calling" ? event.call : [];
  });
  expect(told.slice(told.indexOf("slow GetInfo"))).toEqual([
    ...["slow GetInfo", "GetInfo", "slow NodeGetInfo", "NodeGetInfo", "NotifyRegistrationStatus"],
  ]);
});

const UPDATING =
  "RegisterPlugin error -- plugin registration failed with err: error updating Node object with CSI driver node info: error updating node: timed out waiting for the condition; caused by: ";

test.each([
  [
    "which the Node has with another value",
    { "example.com/rack": "8" },
    'detected topology value collision: driver reported "example.com/rack":"8" but existing label is "example.com/rack":"7"',
  ],
  [
    "with a value that no label has",
    { "example.com/b": "<&>", "example.com/a": "1", "example.com/rack": "7" },
    String.raw`failed to patch status "{\"metadata\":{\"annotations\":{\"csi.volume.kubernetes.io/nodeid\":\"{\\\"x.csi\\\":\\\"n1\\\"}\"},\"labels\":{\"example.com/a\":\"1\",\"example.com/b\":\"\\u003c\\u0026\\u003e\"}}}" for node "node-1": `,
  ],
])("kubelet refuses a topology segment %s", async (_what, topology, why) => {
  const labels = { "example.com/rack": "7" };
  const { kubelet } = await node.all({ kubelet: { nodeLabels: labels }, driver: { topology } });
  const { error } = await kubelet.refused("x.csi");
  expect(error.slice(0, (UPDATING + why).length)).toBe(UPDATING + why);
  expect(kubelet.node().metadata).toMatchObject({ labels, annotations: {} });
});

test("kubelet writes no volume limit beyond 32 bits", async () => {
  const { kubelet } = await node.all({ driver: { maxVolumes: 2 ** 40 } });
  await kubelet.registered("x.csi");
  expect(kubelet.csiNode().spec.drivers[0]?.allocatable).toEqual({ count: 2_147_483_647 });
});

test.each(SIMULATED_VERSIONS)(
  "kubelet %s cannot give a driver in CSINode another node ID",
  async (version) => {
    const { kubelet, driver } = await node.all({ kubelet: { version } });
    await kubelet.registered("x.csi");
    driver.setAnswers({ nodeId: "n2" });
    await kubelet.restart();
    const { error } = await kubelet.refused("x.csi");
    expect(error).toMatch(/NodeID\W+n2\W.*field is immutable/);
  },
);

test("changes to returned objects and events do not reach kubelet", async () => {
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

test.each(SIMULATED_VERSIONS)("kubelet %s writes CSINode before it reports the status", async (version) => {
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
});

test.each(["close", "restart"] as const)("a %s ends a dial that is under way", async (end) => {
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
      // Besides the limit of `whileDown` itself.
      whileDown: () => eventually(() => expect(timers()).toBeLessThanOrEqual(before + 1)),
    });
  }
  await kubelet.close();
  await eventually(() => expect(timers()).toBeLessThanOrEqual(before));
});

test("each cause of a deregistration is told, and a driver that was never there is not deregistered", async () => {
  const { kubelet, driver, registrar } = await node.all({ kubelet: { version: "1.35" } });
  const told = () =>
    kubelet.events.history("deregistered").map(({ driverName, because }) => `${driverName} ${because}`);
  await untilNotified(kubelet, await kubelet.registered("x.csi"));
  const again = kubelet.events.when("registered", { from: "now" });
  await registrar.crash();
  await node.plugin(); // In the place of the one that has crashed.
  await untilNotified(kubelet, await again);
  driver.setFaults([{ kind: "error", method: "NodeGetInfo", code: "INTERNAL", times: 2 }]);
  const info = { supportedVersions: ["1.1.0"] };
  await node.plugin({ socketPath: `${node.pluginDir}/never.sock`, info: { ...info, name: "never.csi" } });
  await kubelet.refused("never.csi");
  await node.plugin({ socketPath: `${node.pluginDir}/v2.sock`, info });
  await kubelet.refused("x.csi");
  expect(told()).toEqual(["x.csi socket-replaced", "x.csi registration-failed"]);
});
