import { IMAGES } from "../support/images";
import { driverArgs, writtenManifest } from "../support/objects";
import { cluster, untilListed } from "../support/use-cluster";

const NAME = "made.csi.example.com";

const forDriver = (...flags: readonly string[]) =>
  writtenManifest(`--driver-name=${NAME}`, `--driver-image=${IMAGES.driver}`, ...flags);
const BOTH_MODES = ["--lifecycle-mode=Persistent", "--lifecycle-mode=Ephemeral"];
const OWN_KINDS = "--include=csidriver,daemonset,storageclass,inline-pod";

// Of each distribution, and for a whole node: test/node-readiness/api-server.
test.each<readonly [string, readonly string[]]>([
  ["the least", []],
  ["every kind of object that Kubernetes itself knows", [OWN_KINDS]],
  ["names", ["--name=other", "--namespace=default", "--plugin-folder=p", "--storage-class=slow", OWN_KINDS]],
  ["attaching", ["--attach-required", "--pod-info-on-mount", ...BOTH_MODES, OWN_KINDS]],
  ["more about volumes", ["--fs-group-policy=File", "--storage-capacity"]],
  ["arguments and port", ["--driver-arg=--endpoint=unix:///csi/csi.sock", "--http-port=9900"]],
  ["another root of kubelet's", ["--kubelet-root=/data/kubelet"]],
])("the API server takes it strictly: %s", async (_title, flags) => {
  const said = await cluster().apply(forDriver(...flags), "--dry-run=server");
  expect(said).toContain(`csidriver.storage.k8s.io/${NAME} serverside-applied (server dry run)`);
  expect(said).not.toMatch(/warning/i);
});

test("applied as it is written, it registers the driver, and its pod has its volume", async () => {
  const written = forDriver(...driverArgs(NAME), ...BOTH_MODES, "--pod-info-on-mount", OWN_KINDS);
  const objects = JSON.parse(JSON.stringify(written).replace("busybox:1.37", IMAGES.workload));
  const { kubectl, apply, remove } = cluster();
  await apply(objects);
  await untilListed(NAME);
  await kubectl("wait", "pod", "--namespace=kube-system", "--for=condition=Ready", "--timeout=90s", "--all");
  const volume = await kubectl("get", "pods", "--namespace=kube-system", "--output=name");
  expect(volume).toContain("pod/made-csi-example-com-node-inline");
  // Before its driver: without the driver kubelet could not unmount the volume, and the pod would stay.
  await kubectl("delete", "pod", `${NAME.replaceAll(".", "-")}-node-inline`, "--namespace=kube-system");
  await remove(objects);
  await untilListed(NAME, false);
});
