import type { CsiDriverOptions } from "../../src/simulator/driver/options";
import { eachTest } from "../support/each-test";
import { createTestNode } from "../support/registrar-node";
import { eventsOf } from "./events-of";

const node = eachTest(createTestNode);

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
