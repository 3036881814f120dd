import fc from "fast-check";
import { csiDriver, csiNode, daemonSet, node, nodeStatus, podStatus, volumeAttachment, waitingPod } from "../../../support/cluster-objects";
import { fuzz } from "../../../support/fuzz";
import { ago, loadRecorded, makeCluster, type MemoryCluster, running, WELL } from "./memory-cluster";
import { DISK, deploy, FILES, SHARES, STORAGE } from "./sick-cluster";

test("the order of objects changes nothing", async () => {
  const whole = await loadRecorded().report();
  await fuzz(fc.infiniteStream(fc.nat({ max: 99 })), async (order) => {
    const cluster = loadRecorded();
    cluster.edit((stored) =>
      stored
        .map((one) => ({ one, at: order.next().value ?? 0 }))
        .toSorted((one, other) => one.at - other.at)
        .map(({ one }) => one),
    );
    expect(await cluster.report()).toEqual(whole);
  });
});
