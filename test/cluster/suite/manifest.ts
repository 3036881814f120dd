import { parseAllDocuments } from "yaml";
import { readText } from "../../docs/markdown";
import { IMAGES } from "../support/images";
import { driverArgs, writtenManifest } from "../support/objects";
import { cluster, untilListed } from "../support/use-cluster";

const NAME = "made.csi.example.com";

const forDriver = (...flags: readonly string[]) =>
  writtenManifest(`--driver-name=${NAME}`, `--driver-image=${IMAGES.driver}`, ...flags);
const BOTH_MODES = ["--lifecycle-mode=Persistent", "--lifecycle-mode=Ephemeral"];
const OWN_KINDS = "--include=csidriver,daemonset";

// Of each distribution, and for a whole node: test/node-readiness/api-server.
test.each<readonly [string, readonly string[]]>([
  ["the least", []],
  ["every kind of object that Kubernetes itself knows", [OWN_KINDS]],
  ["names", ["--name=other", "--namespace=default", "--plugin-folder=p", OWN_KINDS]],
  ["attaching", ["--attach-required", "--pod-info-on-mount", ...BOTH_MODES, OWN_KINDS]],
  ["more about volumes", ["--fs-group-policy=File", "--storage-capacity"]],
  ["arguments and port", ["--driver-arg=--endpoint=unix:///csi/csi.sock", "--http-port=9900"]],
  ["another root of kubelet's", ["--kubelet-root=/data/kubelet"]],
])("the API server takes it strictly: %s", async (_title, flags) => {
  const said = await cluster().apply(forDriver(...flags), "--dry-run=server");
  expect(said).toContain(`csidriver.storage.k8s.io/${NAME} serverside-applied (server dry run)`);
  expect(said).not.toMatch(/warning/i);
});

test("applied as it is written, it registers the driver, and the example's pod has its volume", async () => {
  const objects = forDriver(...driverArgs(NAME), ...BOTH_MODES, "--pod-info-on-mount", OWN_KINDS);
  const example = readText("examples/volumes.yaml").replaceAll("hostpath.csi.k8s.io", NAME);
  const volumes = parseAllDocuments(example.replace("busybox:1.37", IMAGES.workload)).map((one) =>
    one.toJS(),
  );
  const { kubectl, apply, remove } = cluster();
  await apply(objects);
  await untilListed(NAME);
  await apply(volumes);
  await kubectl("wait", "pod", "--namespace=kube-system", "--for=condition=Ready", "--timeout=90s", "--all");
  // Before its driver: without the driver kubelet could not unmount the volume, and the pod would stay.
  await remove(volumes);
  await remove(objects);
  await untilListed(NAME, false);
});
