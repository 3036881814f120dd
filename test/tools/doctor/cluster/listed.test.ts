import { failedMount, podStatus, waitingPod } from "../../../support/cluster-objects";
import { ago, expectSaid, makeCluster } from "./memory-cluster";
import { DISK } from "./sick-cluster";

test.each([
  [
    5,
    0.5,
    /^CSI204 problem: disk\S+ is in CSINode, but kubelet says in its latest events that it does not have/,
  ],
  [5, 4, undefined],
  // It may not have been registered yet.
  [1, 0.5, undefined],
])(
  "kubelet's word counts against CSINode: %d minutes after the registrar's start, an event of %d minutes ago",
  async (startedMinutes, minutes, problem) => {
    const started = { kind: "running", at: ago(startedMinutes) } as const;
    const cluster = await makeCluster({ status: podStatus({ registrar: started, driver: started }) });
    const waits = await cluster.create("/api/v1/namespaces/default/pods", waitingPod("db", "node-1"));
    const event = { ...failedMount(waits, DISK, "node-1"), lastTimestamp: ago(minutes) };
    await cluster.create("/api/v1/namespaces/default/events", event);
    await expectSaid(cluster, ...(problem ? [problem, /^CSI211 problem: .*1 pod \(default\/db\)/] : []));
  },
);
