import { readText } from "../../docs/markdown";
import { IMAGES } from "../support/images";
import { EXAMPLE, exampleObjects, OURS, objectsIn, podWith } from "../support/objects";
import { createStage } from "../support/stage";
import { cluster, startStage } from "../support/use-cluster";

// Dynamic volumes: test/storage-tests.

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

test("the pod of examples/volumes.yaml has its volume", async () => {
  await using _stage = await startStage();
  const { kubectl, apply, remove } = cluster();
  const volumes = objectsIn(readText("examples/volumes.yaml").replace("busybox:1.37", IMAGES.workload));
  await apply(volumes);
  await kubectl("wait", "pod", "--namespace=kube-system", "--for=condition=Ready", "--timeout=90s", "--all");
  await remove(volumes);
});

test("a persistent volume is mounted, written, and read by the next pod", async () => {
  const { kubectl, apply } = cluster();
  const [csiDriver] = exampleObjects();
  const persistent = { ...csiDriver, spec: { attachRequired: false, volumeLifecycleModes: ["Persistent"] } };
  await using stage = createStage(cluster(), OURS);
  await stage.apply(undefined, OURS, persistent);
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
