import { eventually } from "../../support/eventually";
import { IMAGES } from "../support/images";
import { podWithVolume } from "../support/objects";
import { keepTries } from "../support/results";
import { insideOf, type Pod } from "../support/stage";
import { cluster, insideTest, untilListed } from "../support/use-cluster";
import { driverArgs, writtenManifest } from "../support/written-manifest";

const VOLUME_LIMIT = 7;

type Events = { readonly items: readonly { readonly reason: string; readonly message: string }[] };

interface Try {
  readonly failedMounts: number;
  readonly podMs: number;
  /** Resolves when nothing of it is left. */
  readonly removed: Promise<unknown>;
}

/** A pod without toleration that is created before the driver of its inline volume, which the node has never had. */
async function tryPod(driver: string, isTainted: boolean): Promise<Try> {
  const { kubectl, kubectlWith, nodeName } = cluster();
  const taint = `${driver}/agent-not-ready`;
  const pod = `user-of-${driver.replaceAll(".", "-")}`;
  const objects = writtenManifest(
    ...[
      `--driver-name=${driver}`,
      `--driver-image=${IMAGES.driver}`,
      "--startup-taint={driver}/agent-not-ready",
    ],
    ...["--lifecycle-mode=Ephemeral", "--pod-info-on-mount", ...driverArgs(driver)],
    `--driver-arg=--maxvolumespernode=${VOLUME_LIMIT}`,
  );
  const plugin = objects.filter(({ kind }) => kind === "DaemonSet");
  const rest = objects.filter((object) => !plugin.includes(object));
  const remove = async () => {
    // The pod first: without the driver kubelet could not unmount the volume.
    await kubectl("delete", "pod", pod, "--ignore-not-found", "--timeout=60s");
    await kubectlWith(objects, "delete", "--ignore-not-found", "--wait=true");
    if (isTainted) await kubectl("taint", "node", nodeName, `${taint}-`).catch(() => {});
  };
  try {
    await kubectlWith(rest, "apply", "--validate=strict");
    if (isTainted) await kubectl("taint", "node", nodeName, `${taint}=:NoSchedule`);
    await kubectlWith([podWithVolume(pod, driver, [])], "apply");
    await schedulerSees(pod, isTainted);
    const begin = performance.now();
    await kubectlWith(plugin, "apply", "--validate=strict");
    await untilRuns(pod);
    const podMs = performance.now() - begin;
    if (isTainted) await expectComplete(driver, taint);
    return { failedMounts: await countFailedMounts(pod, driver), podMs, removed: remove() };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Resolves when the scheduler has bound the pod, or keeps it away from the node. */
function schedulerSees(pod: string, isKeptAway: boolean): Promise<void> {
  const { get, nodeName } = cluster();
  return eventually(
    async () => {
      const { spec, status } = await get<Pod>(`/api/v1/namespaces/default/pods/${pod}`);
      const isWaiting = status.conditions?.some(({ reason }) => reason === "Unschedulable") ?? false;
      expect([isWaiting, spec.nodeName]).toEqual([isKeptAway, isKeptAway ? undefined : nodeName]);
    },
    { what: `the scheduler has seen ${pod}` },
  );
}

function untilRuns(pod: string): Promise<void> {
  return eventually(
    async () => {
      const { status } = await cluster().get<Pod>(`/api/v1/namespaces/default/pods/${pod}`);
      expect(status.phase).toBe("Running");
    },
    { what: `${pod} runs`, limitMs: 120_000 },
  );
}

/** At the revision with which CSINode listed the driver it had the limit too, and the taint was still on. */
async function expectComplete(driver: string, taint: string): Promise<void> {
  const { get, record, nodeName } = cluster();
  const then = `resourceVersionMatch=Exact&resourceVersion=${record.revision(driver)}`;
  const only = `fieldSelector=metadata.name=${nodeName}&${then}`;
  const [csiNodes, nodes] = await Promise.all([
    get<{ items: { spec: { drivers: object[] } }[] }>(`/apis/storage.k8s.io/v1/csinodes?${only}`),
    get<{ items: { spec: { taints?: { key: string }[] } }[] }>(`/api/v1/nodes?${only}`),
  ]);
  expect(csiNodes.items[0]?.spec.drivers).toContainEqual(
    expect.objectContaining({ name: driver, allocatable: { count: VOLUME_LIMIT } }),
  );
  expect(nodes.items[0]?.spec.taints?.map(({ key }) => key)).toContain(taint);
}

/** Counted once kubelet has reported that the container started: it reports events in order. */
async function countFailedMounts(pod: string, driver: string): Promise<number> {
  const ofPod = `fieldSelector=involvedObject.name=${pod}`;
  const events = await eventually(
    async () => {
      const { items } = await cluster().get<Events>(`/api/v1/namespaces/default/events?${ofPod}`);
      expect(items.map(({ reason }) => reason)).toContain("Started");
      return items;
    },
    { what: `kubelet has reported that ${pod} started` },
  );
  const failed = events.filter(({ reason }) => reason === "FailedMount");
  for (const { message } of failed)
    expect(message).toContain(`driver name ${driver} not found in the list of registered CSI drivers`);
  return failed.length;
}

async function tryPods(title: string, tries: number, isTainted: boolean): Promise<readonly Try[]> {
  const made: Try[] = [];
  try {
    for (let index = 0; index < tries; index++)
      made.push(await tryPod(`${isTainted ? "tainted" : "plain"}-${index}.csi.example.com`, isTainted));
  } finally {
    await Promise.all(made.map(({ removed }) => removed));
  }
  const failedMounts = made.filter((one) => one.failedMounts > 0).length;
  keepTries({ title, tries, failedMounts, podMs: made.map(({ podMs }) => podMs) });
  return made;
}

test("doctor in the registrar's container finds the node, the token and its rights", async () => {
  const { kubectl, kubectlWith, nodeName } = cluster();
  const driver = "asked.csi.example.com";
  const flags = ["--startup-taint={driver}/agent-not-ready", "--node-condition={driver}/Registered"];
  const objects = writtenManifest(
    ...[`--driver-name=${driver}`, `--driver-image=${IMAGES.driver}`, ...flags, ...driverArgs(driver)],
  );
  await kubectlWith(objects, "apply", "--validate=strict");
  try {
    await untilListed(driver);
    const words = ["--remove-startup-taint={driver}/agent-not-ready", "--node-condition={driver}/Registered"];
    const target = [
      "daemonset/asked-csi-example-com-node",
      "--namespace=kube-system",
      "--container=registrar",
    ];
    const doctor = ["/csi-node-driver-registrar", "doctor", "--csi-address=/csi/csi.sock", "--output=json"];
    const report = JSON.parse(await kubectl("exec", ...target, "--", ...doctor, ...words));
    expect(report.findings.filter(({ code }: { code: string }) => code === "CSI021")).toMatchObject([
      { status: "ok", text: expect.stringMatching(/patch nodes\/status, get csinodes$/) },
      { status: "ok", subject: nodeName, text: "has no startup taint of a driver that is here" },
    ]);
  } finally {
    await kubectlWith(objects, "delete", "--ignore-not-found", "--wait=true");
    await untilListed(driver, false);
  }
});

insideTest(
  "GKE's condition is true once kubelet has registered the driver, /healthz answers before",
  async () => {
    const { kubectl, kubectlWith, nodeName, get, record } = cluster();
    const { node } = insideOf(cluster());
    const [type, taint] = ["node.gke.io/PDCSIReady", "readiness.k8s.io/gke-pd-csi-ready"];
    const [driver, pod] = ["pd.csi.example.com", "user-of-pd"];
    const folder = `/var/lib/kubelet/plugins/${driver}`;
    const objects = writtenManifest(
      ...[`--driver-name=${driver}`, `--driver-image=${IMAGES.driver}`, `--node-condition=${type}`],
      ...["--lifecycle-mode=Ephemeral", "--pod-info-on-mount", ...driverArgs(driver)],
      "--driver-arg=--hold-node-info=/csi/hold",
    );
    const condition = async () => {
      const { status } = await get<{ status: { conditions: { type: string; status: string }[] } }>(
        `/api/v1/nodes/${nodeName}`,
      );
      return status.conditions.find((one) => one.type === type)?.status;
    };
    try {
      await node.run("sh", "-c", `mkdir -p ${folder} && touch ${folder}/hold`);
      await kubectl("taint", "node", nodeName, `${taint}=:NoSchedule`);
      await kubectlWith([podWithVolume(pod, driver, [])], "apply");
      await schedulerSees(pod, true);
      await kubectlWith(objects, "apply", "--validate=strict");
      await eventually(() => node.run("test", "-e", `${folder}/hold.waits`), {
        what: "kubelet asks the driver",
      });

      const list = JSON.parse(await kubectl("get", "pods", "--namespace=kube-system", "--output=json"));
      const plugins = list.items.filter(({ spec }: { spec: object }) =>
        JSON.stringify(spec).includes(driver),
      );
      expect(plugins).toHaveLength(1);
      const url = `/api/v1/namespaces/kube-system/pods/${plugins[0].metadata.name}:9809/proxy`;
      expect(await kubectl("get", `--raw=${url}/healthz`)).toBe("ok");
      await expect(kubectl("get", `--raw=${url}/readyz`)).rejects.toThrow(/currently unable|503/);
      expect([await condition(), record.isListed(driver)]).toEqual([undefined, false]);

      await node.run("rm", `${folder}/hold`);
      await eventually(async () => expect(await condition()).toBe("True"), { what: `${type} is True` });
      expect(record.isListed(driver)).toBe(true);
      // What GKE's node readiness controller does.
      await kubectl("taint", "node", nodeName, `${taint}-`);
      await untilRuns(pod);
      expect(await countFailedMounts(pod, driver)).toBe(0);
    } finally {
      await kubectl("delete", "pod", pod, "--ignore-not-found", "--timeout=60s");
      await kubectlWith(objects, "delete", "--ignore-not-found", "--wait=true");
      await kubectl("taint", "node", nodeName, `${taint}-`).catch(() => {});
      await untilListed(driver, false);
    }
  },
);

test("with a startup taint no pod of 20 gets a FailedMount event for a driver that comes after it", async () => {
  const made = await tryPods("with a startup taint", 20, true);
  expect(made.map(({ failedMounts }) => failedMounts)).toEqual(Array(20).fill(0));
});

test("without a startup taint each does", async () => {
  const made = await tryPods("without a startup taint", 5, false);
  for (const { failedMounts } of made) expect(failedMounts).toBeGreaterThan(0);
});
