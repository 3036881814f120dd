import { ending, setTopology } from "../support/faults";
import { containerOf, OURS, TOPOLOGY_KEY } from "../support/objects";
import { createStage, insideOf, type Stage } from "../support/stage";
import { until } from "../support/until";
import { cluster, insideTest, startStage } from "../support/use-cluster";

async function procfile(stage: Stage, file: string): Promise<string> {
  const { node } = insideOf(cluster());
  const { containerID = "" } = await stage.status("registrar");
  const tasks = await node.run("ctr", "--namespace=k8s.io", "tasks", "list");
  const id = containerID.replace("containerd://", "");
  const [, pid] = new RegExp(`^${id}\\s+(\\d+)`, "m").exec(tasks) ?? [];
  return node.run("cat", `/proc/${pid}/${file}`);
}

insideTest("registers without capabilities, confined by seccomp, with a read-only root", async () => {
  await using stage = await startStage();
  const status = await procfile(stage, "status");
  // Seccomp 2 is SECCOMP_MODE_FILTER.
  for (const line of ["CapEff:\\s+0{16}", "CapBnd:\\s+0{16}", "NoNewPrivs:\\s+1", "Seccomp:\\s+2"])
    expect(status).toMatch(new RegExp(`^${line}$`, "m"));
  expect(await procfile(stage, "mountinfo")).toMatch(/^\d+ \d+ \S+ \/ \/ ro,/m);
});

test("registers with exec probes instead of an HTTP endpoint, under 200m and 64Mi", async () => {
  const probe = (mode: string) => ({
    exec: { command: ["/csi-node-driver-registrar", `--mode=${mode}`, ...args] },
    initialDelaySeconds: 3,
    periodSeconds: 10,
    timeoutSeconds: 10,
  });
  let args: readonly string[] = [];
  await using stage = await startStage(OURS, (daemonSet) => {
    const registrar = containerOf(daemonSet, "registrar");
    args = registrar.args.filter((arg) => /csi-address|registration-path/.test(arg));
    Object.assign(registrar, {
      args,
      livenessProbe: probe("health-probe"),
      readinessProbe: probe("ready-probe"),
      resources: { limits: { cpu: "200m", memory: "64Mi" } },
    });
    delete registrar.ports;
  });
  await stage.mountsVolume("beside-exec-probes");
  expect((await stage.status("registrar")).restartCount).toBe(0);
});

test("a refusal stands in the container's termination message", async () => {
  await setTopology(cluster(), "elsewhere");
  try {
    await using stage = createStage(cluster(), OURS);
    await stage.apply(ending);
    const text = `detected topology value collision: driver reported "${TOPOLOGY_KEY}"`;
    await until(async () => {
      const { state, lastState } = await stage.status("registrar");
      const ended = { exitCode: 1, message: expect.stringContaining(text) };
      expect(state.terminated ?? lastState.terminated).toMatchObject(ended);
    }, "kubelet's refusal ends the container");
  } finally {
    await setTopology(cluster());
  }
});
