import { readText } from "../../docs/markdown";
import { IMAGES } from "../support/images";
import { EXAMPLE, OURS, objectsIn } from "../support/objects";
import { createStage, type Stage } from "../support/stage";
import { cluster } from "../support/use-cluster";

async function started({ apply, registered }: Stage): Promise<void> {
  await apply();
  await registered();
}

async function procfile(stage: Stage, file: string): Promise<string> {
  const { node } = cluster;
  const { containerID = "" } = await stage.status("registrar");
  const tasks = await node.run("ctr", "--namespace=k8s.io", "tasks", "list");
  const id = containerID.replace("containerd://", "");
  const [, pid] = new RegExp(`^${id}\\s+(\\d+)`, "m").exec(tasks) ?? [];
  return node.run("cat", `/proc/${pid}/${file}`);
}

test("registers without capabilities, confined by seccomp, with a read-only root", async () => {
  await using stage = createStage(cluster, OURS);
  await started(stage);
  const status = await procfile(stage, "status");
  // Seccomp 2 is SECCOMP_MODE_FILTER.
  for (const line of ["CapEff:\\s+0{16}", "CapBnd:\\s+0{16}", "NoNewPrivs:\\s+1", "Seccomp:\\s+2"])
    expect(status).toMatch(new RegExp(`^${line}$`, "m"));
  expect(await procfile(stage, "mountinfo")).toMatch(/^\d+ \d+ \S+ \/ \/ ro,/m);
});

const DIALLED = `/var/lib/kubelet/plugins/${EXAMPLE.driver}/csi.sock`;
const COMMAND = [
  ...["/csi-node-driver-registrar", "doctor", "--output=json", "--csi-address=/csi/csi.sock"],
  `--kubelet-registration-path=${DIALLED}`,
];

test("kubectl exec runs doctor in the registrar's container, which names the path that kubelet dials", async () => {
  await using stage = createStage(cluster, OURS);
  await started(stage);
  const [pod] = await stage.pods();
  const inside = ["--namespace=kube-system", "--container=registrar", "--"];
  const doctor = cluster.kubectl("exec", pod?.metadata.name ?? "", ...inside, ...COMMAND);
  // What is wrong tells more than the exit code.
  const said = await doctor.catch(({ stdout }: { stdout: string }) => stdout);
  const { healthy, findings } = JSON.parse(said);
  const isBad = ({ status }: { status: string }) => status !== "ok" && status !== "skipped";
  expect([healthy, findings.filter(isBad)]).toEqual([true, []]);
  const found = { check: "kubelet-path", status: "ok", subject: DIALLED };
  expect(findings).toContainEqual(expect.objectContaining(found));
});

// Persistent volumes: test/storage-tests.
test("the pod of examples/volumes.yaml has its volume", async () => {
  await using stage = createStage(cluster, OURS);
  await started(stage);
  const { kubectl, apply, remove } = cluster;
  const volumes = objectsIn(readText("examples/volumes.yaml").replace("busybox:1.37", IMAGES.workload));
  await apply(volumes);
  await kubectl("wait", "pod", "--namespace=kube-system", "--for=condition=Ready", "--timeout=90s", "--all");
  await remove(volumes);
});
