import { IMAGES } from "../support/images";
import { containerOf, EXAMPLE, exampleObjects, OURS, podWith } from "../support/objects";
import { type Change, createStage } from "../support/stage";
import { cluster } from "../support/use-cluster";

const STATIC_VOLUME = [
  {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "static" },
    spec: {
      capacity: { storage: "1Mi" },
      accessModes: ["ReadWriteOnce"],
      storageClassName: "",
      persistentVolumeReclaimPolicy: "Retain",
      csi: { driver: EXAMPLE.driver, volumeHandle: "static-1" },
    },
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "static", namespace: "default" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "",
      volumeName: "static",
      resources: { requests: { storage: "1Mi" } },
    },
  },
];

test("a persistent volume is mounted, written, and read by the next pod", async () => {
  const { kubectl, kubectlWith } = cluster();
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
  await kubectlWith([...STATIC_VOLUME, podWith("first", volume)], "apply");
  await kubectl("wait", "pod", "first", "--for=condition=Ready", "--timeout=90s");
  expect(await kubectl("logs", "first")).toBe("read text of first\n");
  await kubectl("delete", "pod", "first", "--timeout=60s");
  await kubectlWith([podWith("second", volume)], "apply");
  await kubectl("wait", "pod", "second", "--for=condition=Ready", "--timeout=90s");
  expect(await kubectl("logs", "second")).toBe("found text of first\nread text of second\n");
  await kubectl("delete", "pod", "second", "--timeout=60s");
  await kubectl("delete", "pvc/static", "pv/static", "--timeout=60s");
});
