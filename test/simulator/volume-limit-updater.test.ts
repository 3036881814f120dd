import { setTimeout } from "node:timers/promises";
import type { KubeletVersion } from "../../src/kubelet-rules/versions";
import type { SimulatedKubelet } from "../../src/simulator/kubelet/kubelet";
import { eachTest } from "../support/each-test";
import { createTestNode } from "../support/registrar-node";

const node = eachTest(createTestNode);
const periods = { volumeLimitPeriodsMs: { "x.csi": 20 } };
const limitOf = ({ csiNode }: Pick<SimulatedKubelet, "csiNode">) =>
  csiNode().spec.drivers[0]?.allocatable?.count;

test("kubelet asks again after a period, and writes the new limit alone", async () => {
  const { kubelet, driver } = await node.all({ kubelet: periods, driver: { maxVolumes: 3, nodeId: "n1" } });
  await kubelet.registered("x.csi");
  expect(limitOf(kubelet)).toBe(3);
  driver.setAnswers({ maxVolumes: 4 });
  await kubelet.events.when("csi-node-changed", { from: "now" });
  expect(limitOf(kubelet)).toBe(4);
  await driver.close();
  await expect(kubelet.events.when("volume-limit-not-updated")).resolves.toMatchObject({
    driverName: "x.csi",
    error: expect.stringMatching(/^failed to get NodeGetInfo from driver "x.csi": rpc error: /),
  });
  expect(limitOf(kubelet)).toBe(4);
  await node.driver({ maxVolumes: 5, nodeId: "n1" });
  await kubelet.events.when("csi-node-changed", { from: "now" });
  expect(limitOf(kubelet)).toBe(5);
  expect(kubelet.events.history("node-changed")).toHaveLength(1);
  expect(kubelet.events.history("registered")).toHaveLength(1);
});

test.each<readonly [string, KubeletVersion, Readonly<Record<string, number>>]>([
  ["a kubelet before 1.35", "1.34", periods.volumeLimitPeriodsMs],
  ["a driver without a period", "1.36", { "y.csi": 20 }],
])("%s: never again", async (_, version, volumeLimitPeriodsMs) => {
  const { kubelet } = await node.all({ kubelet: { version, volumeLimitPeriodsMs } });
  await kubelet.registered("x.csi");
  await setTimeout(100);
  const calls = kubelet.events.history("calling").filter(({ call }) => call === "NodeGetInfo");
  expect(calls).toHaveLength(1);
});

test("kubelet stops asking when the driver is deregistered, and when it ends", async () => {
  const { kubelet, registrar } = await node.all({ kubelet: periods });
  const asked = () => kubelet.events.history("calling").length;
  await kubelet.registered("x.csi");
  await kubelet.events.when("called", { from: "now", where: ({ call }) => call === "NodeGetInfo" });
  await registrar.close();
  await kubelet.deregistered("x.csi");
  const before = asked();
  await setTimeout(100);
  expect(asked()).toBe(before);
  expect(kubelet.csiNode().spec.drivers).toEqual([]);
});
