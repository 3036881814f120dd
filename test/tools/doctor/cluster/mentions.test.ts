import { keyOfPlace } from "../../../../src/tools/doctor/cluster/read/mentions";
import { driverNamed } from "../../../../src/tools/doctor/cluster/read/units";
import { daemonSet } from "../../../support/cluster-objects";
import { expectSaid, makeCluster } from "./memory-cluster";
import { DISK, deploy } from "./sick-cluster";

test("each pod without a node is a place of its own", () => {
  const keyOf = (name: string) =>
    keyOfPlace({ driver: driverNamed("x.csi"), node: undefined, pod: { name } as never });
  expect(keyOf("a")).not.toBe(keyOf("b"));
});

test.each([
  ["no free ports", "the scheduler finds no node for its pod: no free ports"],
  [undefined, "its pod has no node, and the scheduler does not report why"],
])("a pod that the scheduler does not bring to the node that it is meant for: %s", async (message, why) => {
  const cluster = await makeCluster();
  const noRoom = { conditions: [{ type: "PodScheduled", status: "False", message }] };
  const again = daemonSet(DISK, { name: "disk-again" });
  await deploy(cluster, again, ["node-1"], () => noRoom, { isScheduled: false });
  await expectSaid(cluster, new RegExp(`^CSI202 problem: .*: ${why} -> `));
});
