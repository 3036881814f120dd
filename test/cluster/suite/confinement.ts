import { eventually } from "../../support/eventually";
import { ending } from "../support/faults";
import { containerOf, OURS, TOPOLOGY_KEY } from "../support/objects";
import { createStage, insideOf, type Stage } from "../support/stage";
import { cluster, insideTest, startStage } from "../support/use-cluster";

/** A file of the registrar's first process, as the node has it. */
async function procfile(stage: Stage, file: string): Promise<string> {
  const { node } = insideOf(cluster());
  const { containerID = "" } = await stage.status("registrar");
  const tasks = await node.run("ctr", "--namespace=k8s.io", "tasks", "list");
  const id = containerID.replace("containerd://", "");
  const [, pid] = new RegExp(`^${id}\\s+(\\d+)`, "m").exec(tasks) ?? [];
  return node.run("cat", `/proc/${pid}/${file}`);
}

insideTest(
  "registers with no capability, no new privilege, a filter of system calls and a root it cannot write",
  async () => {
    await using stage = await startStage();
    const status = await procfile(stage, "status");
    expect(status).toMatch(/^CapEff:\s+0{16}$/m);
    expect(status).toMatch(/^CapBnd:\s+0{16}$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m); // SECCOMP_MODE_FILTER
    expect(await procfile(stage, "mountinfo")).toMatch(/^\d+ \d+ \S+ \/ \/ ro,/m);
  },
);

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
  const { kubectl, nodeName } = cluster();
  await kubectl("label", "node", nodeName, "--overwrite", `${TOPOLOGY_KEY}=elsewhere`);
  try {
    await using stage = createStage(cluster(), OURS);
    await stage.apply(ending);
    const terminated = await eventually(
      async () => {
        const { state, lastState } = await stage.status("registrar");
        const found = state.terminated ?? lastState.terminated;
        if (!found) throw new Error("the container has not ended");
        return found;
      },
      { what: "kubelet's refusal ends the container" },
    );
    expect(terminated.exitCode).toBe(1);
    expect(terminated.message).toContain(
      `detected topology value collision: driver reported "${TOPOLOGY_KEY}"`,
    );
  } finally {
    await kubectl("label", "node", nodeName, `${TOPOLOGY_KEY}-`);
  }
});
