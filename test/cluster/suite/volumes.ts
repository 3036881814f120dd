import { readText } from "../../docs/markdown";
import { IMAGES } from "../support/images";
import { objectsIn } from "../support/objects";
import { cluster, startStage } from "../support/use-cluster";

// Persistent volumes: test/storage-tests.

test("the pod of examples/volumes.yaml has its volume", async () => {
  await using _stage = await startStage();
  const { kubectl, apply, remove } = cluster();
  const volumes = objectsIn(readText("examples/volumes.yaml").replace("busybox:1.37", IMAGES.workload));
  await apply(volumes);
  await kubectl("wait", "pod", "--namespace=kube-system", "--for=condition=Ready", "--timeout=90s", "--all");
  await remove(volumes);
});
