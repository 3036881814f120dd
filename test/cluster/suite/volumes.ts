import {
  applyDynamic,
  applySidecars,
  hasDynamicVolumes,
  removeDynamicVolumes,
  resize,
  usesNewClaim,
} from "../support/dynamic-volumes";
import { all, rollOut, surging } from "../support/faults";
import { IMAGES } from "../support/images";
import {
  containerOf,
  EXAMPLE,
  exampleObjects,
  OURS,
  objectsIn,
  podWith,
  registrationSocketOf,
  TOPOLOGY_KEY,
} from "../support/objects";
import { type Change, createStage, insideOf } from "../support/stage";
import { cluster, insideTest, sayLeftOut } from "../support/use-cluster";

const STATIC_VOLUME = objectsIn(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: static}
spec:
  capacity: {storage: 1Mi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  csi: {driver: ${EXAMPLE.driver}, volumeHandle: static-1}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: static, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: ""
  volumeName: static
  resources: {requests: {storage: 1Mi}}
`);

test("a persistent volume is mounted, written, and read by the next pod", async () => {
  const { kubectl, apply } = cluster();
  const [csiDriver] = exampleObjects();
  const persistent = { ...csiDriver, spec: { attachRequired: false, volumeLifecycleModes: ["Persistent"] } };
  await using stage = createStage(cluster(), OURS);
  const ownDriver: Change = (daemonSet) => {
    // The hostpath driver knows the volumes only that its own controller made.
    containerOf(daemonSet, "hostpath").image = IMAGES.driver;
  };
  await stage.apply(ownDriver, OURS, persistent);
  await stage.registered();

  const volume = { persistentVolumeClaim: { claimName: "static" } };
  await apply(STATIC_VOLUME);
  for (const [name, log] of [
    ["first", "read text of first\n"],
    ["second", "found text of first\nread text of second\n"],
  ] as const) {
    await apply([podWith(name, volume)]);
    await kubectl("wait", "pod", name, "--for=condition=Ready", "--timeout=90s");
    expect(await kubectl("logs", name)).toBe(log);
    await kubectl("delete", "pod", name, "--timeout=60s");
  }
  await kubectl("delete", "pvc/static", "pv/static", "--timeout=60s");
});

const DYNAMIC =
  "a dynamic volume is provisioned for its node, attached, and grows, after a surge and without a socket";
if (hasDynamicVolumes) insideTest(DYNAMIC, useDynamicVolumes);
else sayLeftOut(DYNAMIC, "the hostpath driver and the sidecars of dynamic volumes");

async function useDynamicVolumes(): Promise<void> {
  const { kubectl, get, nodeName } = cluster();
  const { node } = insideOf(cluster());
  const expectProvisioned = async (volume: string) => {
    const matchExpressions = [{ key: TOPOLOGY_KEY, operator: "In", values: [nodeName] }];
    expect(await get(`/api/v1/persistentvolumes/${volume}`)).toMatchObject({
      spec: {
        csi: { driver: EXAMPLE.driver },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      },
    });
    const { items } = await get<{ items: object[] }>("/apis/storage.k8s.io/v1/volumeattachments");
    const spec = expect.objectContaining({ nodeName, source: { persistentVolumeName: volume } });
    expect(items).toContainEqual(expect.objectContaining({ spec, status: { attached: true } }));
  };
  await using stage = createStage(cluster(), OURS);
  try {
    await applySidecars(cluster(), [stage.plugin]);
    await applyDynamic(stage, surging);
    await stage.registered();
    await expectProvisioned(await usesNewClaim(stage, "first"));

    await applyDynamic(stage, all(surging, rollOut));
    await kubectl("rollout", "status", "--namespace=kube-system", `daemonset/${EXAMPLE.daemonSet}`);
    await expectProvisioned(await usesNewClaim(stage, "after-a-surge"));

    await node.run("rm", registrationSocketOf(EXAMPLE));
    await Promise.all([resize(cluster(), "first", "2Mi"), usesNewClaim(stage, "without-a-socket")]);
    await node.run("test", "-S", registrationSocketOf(EXAMPLE));
    expect(await kubectl("logs", "first")).toBe("read text of first\n");
  } finally {
    await removeDynamicVolumes(cluster());
  }
}
