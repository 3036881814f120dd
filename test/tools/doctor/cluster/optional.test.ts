import {
  daemonSet,
  failedMount,
  podStatus,
  volumeAttachment,
  waitingPod,
} from "../../../support/cluster-objects";
import { placesIn, replaceAt } from "../../../support/places";
import { otherFactsIn } from "../findings/less-known";
import { callsOf, NO_FACTS } from "./cluster-calls";
import {
  ago,
  createMemoryCluster,
  expectSaid,
  type MemoryCluster,
  makeCluster,
  running,
} from "./memory-cluster";
import { addNode, DISK, deploy, STORAGE } from "./sick-cluster";

// An API server leaves out what has no value, and an older one what it does not know: that is no other fact.

/** What the absence of a field says, as its author left it out; by its resource. */
const SAID_BY_ABSENCE: readonly RegExp[] = [
  /^(?:pods|daemonsets) spec\b/,
  /^pods metadata\.(?:ownerReferences|deletionTimestamp)\b/,
  // Kubelet has not looked at the pod.
  /^pods status\.containerStatuses$/,
  // Words, if there are any.
  /^(?:events message|pods status\.reason|pods status\.containerStatuses\[\]\.lastState\.terminated\.reason)$/,
  // 0: the controller has never looked at it.
  /^daemonsets status\.observedGeneration$/,
];

const restarts = { restarts: 9, last: { at: ago(2), exitCode: 1, message: "no" } } as const;
const crashing = { kind: "crash-loop", ...restarts } as const;
const again = { kind: "running", at: ago(1), ...restarts } as const;
const initial = { kind: "waiting", reason: "PodInitializing", message: "" } as const;
const pulling = { kind: "waiting", reason: "ErrImagePull", message: "no such image" } as const;
const ofInit = { restartCount: 0, ready: false, started: false, state: { running: { startedAt: ago(40) } } };
const STATUSES: readonly object[] = [
  podStatus({ registrar: crashing, driver: running }),
  podStatus({ registrar: running, driver: running }),
  podStatus({ registrar: pulling, driver: running }),
  podStatus({ registrar: running, driver: again }),
  { phase: "Pending" },
  {
    ...podStatus({ registrar: initial, driver: initial }),
    initContainerStatuses: [{ name: "late", ...ofInit }],
  },
  { phase: "Failed", reason: "Evicted", message: "low on memory" },
];

type Whole = Record<"metadata" | "spec" | "status", Record<string, unknown>>;
const TEMPLATE = "deprecated.daemonset.template.generation";

/** Each status has a node, and all that an API server may write. */
async function makeWhole(): Promise<MemoryCluster> {
  const cluster = createMemoryCluster();
  const nodes = STATUSES.map((_, at) => `node-${at}`);
  for (const name of nodes) {
    await addNode(cluster, name, { [DISK]: "i" });
    await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment(name, DISK, name));
  }
  const set = daemonSet(DISK);
  await deploy(cluster, set, nodes, (node) => STATUSES[nodes.indexOf(node)] ?? {});
  const waits = await cluster.create("/api/v1/namespaces/shop/pods", waitingPod("db", "node-1", "shop"));
  await cluster.create("/api/v1/namespaces/shop/events", failedMount(waits, DISK, "node-1"));
  cluster.edit((all) =>
    all.map(({ path, object }) => {
      const whole = structuredClone(object) as unknown as Whole;
      const [, at = ""] = /^disk-node-node-(\d)$/.exec(object.metadata.name) ?? [];
      if (path.endsWith("/daemonsets")) {
        Object.assign(whole.metadata, { generation: 3, annotations: { [TEMPLATE]: "3" } });
        whole.status.observedGeneration = 3;
      }
      if (at !== "") completePod(whole, STATUSES[Number(at)] ?? {});
      return { path, object: whole as unknown as typeof object };
    }),
  );
  return cluster;
}

function completePod({ metadata, spec, status }: Whole, own: object) {
  const { labels } = metadata as { labels: object };
  metadata.labels = { ...labels, "pod-template-generation": "3" };
  const isOn = !("phase" in own) || own.phase !== "Pending" || "containerStatuses" in own;
  if (!isOn) spec.nodeName = undefined;
  if ("initContainerStatuses" in own) spec.initContainers = [{ name: "late", restartPolicy: "Always" }];
  const types = ["Initialized", "PodReadyToStartContainers", "PodScheduled", "Ready"];
  status.conditions = types.map((type) => ({
    ...{ type, lastTransitionTime: ago(40), message: "so" },
    status: type === "Ready" || !isOn ? "False" : "True",
  }));
  const { containerStatuses = [] } = status as { containerStatuses?: Record<string, unknown>[] };
  for (const one of containerStatuses) one.started = one.ready;
  if (containerStatuses[1]) containerStatuses[1].ready = false;
}

test("each field that an object need not have is left out in turn: the facts stay, or are unread", async () => {
  const cluster = await makeWhole();
  const stored = new Map<object, string>();
  cluster.setView((path, object) => {
    stored.set(object, path.split("/").at(-1) ?? "");
    return object;
  });
  const more = await cluster.facts();
  const calls = callsOf(more);
  const wrong = new Map<string, string>();
  for (const [object, resource] of stored)
    for (const place of placesIn(object).filter(({ length }) => length > 0)) {
      const path = place.map((key) => (/^\d+$/.test(key) ? "[]" : `.${key}`)).join("");
      const field = `${resource} ${path.slice(1)}`;
      if (SAID_BY_ABSENCE.some((one) => one.test(field))) continue;
      cluster.setView((_path, one) => (one === object ? (replaceAt(one, place, undefined) as object) : one));
      const [other] = otherFactsIn(await cluster.facts(), more, {
        asWritten: [...NO_FACTS, "message"],
        calls,
      });
      if (other !== undefined) wrong.set(field, other);
    }
  expect([...wrong]).toEqual([]);
});

test("a container whose state kubelet does not report neither starts nor runs for certain", async () => {
  const { containerStatuses, ...status } = podStatus({ registrar: crashing, driver: running });
  const silent = containerStatuses.map((one) => ({ ...one, state: one.name === "driver" ? one.state : {} }));
  const cluster = await makeCluster({ inCsiNode: {}, status: { ...status, containerStatuses: silent } });
  await expectSaid(cluster, /^CSI204 unknown: .*does not run, and kubelet does not report why/);
});
