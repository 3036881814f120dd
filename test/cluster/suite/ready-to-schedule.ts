import { IMAGES } from "../support/images";
import {
  driverArgs,
  EXAMPLE,
  exampleObjects,
  OURS,
  podWithVolume,
  writtenManifest,
} from "../support/objects";
import { keepTries } from "../support/results";
import { podNamed, podRuns } from "../support/stage";
import { until } from "../support/until";
import { cluster, untilListed } from "../support/use-cluster";

type Events = { readonly items: readonly { readonly reason: string; readonly message: string }[] };

const written = (driver: string, ...flags: readonly string[]) => [
  exampleObjects(OURS, { ...EXAMPLE, driver })[0],
  ...writtenManifest(
    ...[`--driver-name=${driver}`, `--driver-image=${IMAGES.driver}`, ...driverArgs(driver), ...flags],
  ),
];

/** The pod first: without the driver kubelet could not unmount the volume. The taint may be gone. */
async function removeWith(pod: string, objects: readonly object[], taint: string): Promise<void> {
  const { kubectl, remove, nodeName } = cluster;
  await kubectl("delete", "pod", pod, "--ignore-not-found", "--timeout=60s");
  await remove(objects);
  await kubectl("taint", "node", nodeName, `${taint}-`).catch(() => {});
}

/** A pod without toleration that is created before the driver of its inline volume, which the node has never had. */
async function tryPod(driver: string, isTainted: boolean) {
  const { kubectl, apply, nodeName } = cluster;
  const taint = `${driver}/agent-not-ready`;
  const pod = `user-of-${driver.replaceAll(".", "-")}`;
  const objects = written(driver, "--startup-taint={driver}/agent-not-ready");
  const plugin = objects.filter(({ kind }) => kind === "DaemonSet");
  const removeAll = () => removeWith(pod, objects, taint);
  try {
    await apply(objects.filter((object) => !plugin.includes(object)));
    if (isTainted) await kubectl("taint", "node", nodeName, `${taint}=:NoSchedule`);
    await apply([podWithVolume(pod, driver, [])]);
    await schedulerSees(pod, isTainted);
    const begin = performance.now();
    await apply(plugin);
    await podRuns(cluster, pod);
    const podMs = performance.now() - begin;
    return { failedMounts: await countFailedMounts(pod, driver), podMs, removed: removeAll() };
  } catch (error) {
    await removeAll();
    throw error;
  }
}

const schedulerSees = (pod: string, isKeptAway: boolean): Promise<void> =>
  until(async () => {
    const { spec, status } = await podNamed(cluster, pod);
    const isWaiting = status.conditions?.some(({ reason }) => reason === "Unschedulable") ?? false;
    expect([isWaiting, spec.nodeName]).toEqual([isKeptAway, isKeptAway ? undefined : cluster.nodeName]);
  }, `the scheduler has seen ${pod}`);

/** Counted once kubelet has reported that the container started: it reports events in order. */
async function countFailedMounts(pod: string, driver: string): Promise<number> {
  const ofPod = `fieldSelector=involvedObject.name=${pod}`;
  const events = await until(async () => {
    const { items } = await cluster.get<Events>(`/api/v1/namespaces/default/events?${ofPod}`);
    expect(items.map(({ reason }) => reason)).toContain("Started");
    return items;
  }, `kubelet has reported that ${pod} started`);
  const failed = events.filter(({ reason }) => reason === "FailedMount");
  for (const { message } of failed)
    expect(message).toContain(`driver name ${driver} not found in the list of registered CSI drivers`);
  return failed.length;
}

async function tryPods(title: string, tries: number, isTainted: boolean): Promise<number> {
  const made: Awaited<ReturnType<typeof tryPod>>[] = [];
  try {
    for (let index = 0; index < tries; index++)
      made.push(await tryPod(`${isTainted ? "tainted" : "plain"}-${index}.csi.example.com`, isTainted));
  } finally {
    await Promise.all(made.map(({ removed }) => removed));
  }
  const failedMounts = made.filter((one) => one.failedMounts > 0).length;
  keepTries({ title, tries, failedMounts, podMs: made.map(({ podMs }) => podMs) });
  return failedMounts;
}

test("GKE's condition is true once kubelet has registered the driver, not with /healthz", async () => {
  const { kubectl, apply, nodeName, record, node } = cluster;
  const [type, taint] = ["node.gke.io/PDCSIReady", "readiness.k8s.io/gke-pd-csi-ready"];
  const [driver, pod] = ["pd.csi.example.com", "user-of-pd"];
  const folder = `/var/lib/kubelet/plugins/${driver}`;
  const objects = written(driver, `--node-condition=${type}`, "--driver-arg=--hold-node-info=/csi/hold");
  const path = `{.status.conditions[?(@.type=="${type}")].status}`;
  const condition = () => kubectl("get", "node", nodeName, `--output=jsonpath=${path}`);
  try {
    await node.run("sh", "-c", `mkdir -p ${folder} && touch ${folder}/hold`);
    await kubectl("taint", "node", nodeName, `${taint}=:NoSchedule`);
    await apply([podWithVolume(pod, driver, [])]);
    await schedulerSees(pod, true);
    await apply(objects);
    await until(() => node.run("test", "-e", `${folder}/hold.waits`), "kubelet asks the driver");

    const pods = await kubectl("get", "pods", "--namespace=kube-system", "--output=name");
    const [, plugin] = /^pod\/(pd-csi-example-com-node-\S+)$/m.exec(pods) ?? [];
    const url = `/api/v1/namespaces/kube-system/pods/${plugin}:9809/proxy`;
    expect(await kubectl("get", `--raw=${url}/healthz`)).toBe("ok");
    await expect(kubectl("get", `--raw=${url}/readyz`)).rejects.toThrow(/currently unable|503/);
    expect([await condition(), record.isListed(driver)]).toEqual(["", false]);

    await node.run("rm", `${folder}/hold`);
    await until(async () => expect(await condition()).toBe("True"), `${type} is True`);
    expect(record.isListed(driver)).toBe(true);
    // What GKE's node readiness controller does.
    await kubectl("taint", "node", nodeName, `${taint}-`);
    await podRuns(cluster, pod);
    expect(await countFailedMounts(pod, driver)).toBe(0);
  } finally {
    await removeWith(pod, objects, taint);
    await untilListed(driver, false);
  }
});

test("with a startup taint no pod of 20 gets a FailedMount event for a driver that comes after it", async () => {
  expect(await tryPods("with a startup taint", 20, true)).toBe(0);
});

test("without a startup taint each does", async () => {
  expect(await tryPods("without a startup taint", 5, false)).toBe(5);
});
