import type { Stage } from "../support/stage";
import { cluster, startStage } from "../support/use-cluster";

async function procfile(stage: Stage, file: string): Promise<string> {
  const { node } = cluster();
  const { containerID = "" } = await stage.status("registrar");
  const tasks = await node.run("ctr", "--namespace=k8s.io", "tasks", "list");
  const id = containerID.replace("containerd://", "");
  const [, pid] = new RegExp(`^${id}\\s+(\\d+)`, "m").exec(tasks) ?? [];
  return node.run("cat", `/proc/${pid}/${file}`);
}

test("registers without capabilities, confined by seccomp, with a read-only root", async () => {
  await using stage = await startStage();
  const status = await procfile(stage, "status");
  // Seccomp 2 is SECCOMP_MODE_FILTER.
  for (const line of ["CapEff:\\s+0{16}", "CapBnd:\\s+0{16}", "NoNewPrivs:\\s+1", "Seccomp:\\s+2"])
    expect(status).toMatch(new RegExp(`^${line}$`, "m"));
  expect(await procfile(stage, "mountinfo")).toMatch(/^\d+ \d+ \S+ \/ \/ ro,/m);
});
