import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { kubernetesOf } from "./build";
import type { ControlPlane } from "./control-plane";
import { IMAGES, type Images } from "./images";
import { type Part, startPart } from "./part";
import { until } from "./until";

const run = promisify(execFile);
const RUNTIME_SOCKET = "/run/containerd/containerd.sock";

/** `folder` has what the node writes, kept when its power is cut; its last part is the node's name. */
export async function startNode(folder: string, controlPlane: ControlPlane) {
  const name = basename(folder);
  const logs = join(folder, "logs");
  /** A path of the node as this process sees it: `/var/lib/kubelet` and so on; nothing outside `/var`. */
  const at = (path: string) => join(folder, path);
  for (const path of ["logs", "var/lib/kubelet", "var/lib/cni"]) mkdirSync(at(path), { recursive: true });
  writeFileSync(at("var/lib/containerd.toml"), containerdConfiguration());
  writeFileSync(at("var/lib/cni/pods.conflist"), cniConfiguration());
  writeFileSync(at("var/lib/resolv.conf"), "");
  writeFileSync(at("var/lib/kubelet-config.yaml"), kubeletConfiguration(controlPlane.caFile));

  const namespaces = ["--mount", "--pid", "--ipc", "--uts"];
  const enter = ["unshare", ...namespaces, "--mount-proc", "--fork", "--kill-child"];
  const kubernetes = kubernetesOf("NODE");
  const machine = await startPart(
    [...enter, "sh", join(__dirname, "enter-node.sh"), folder, kubernetes, "init", "/bin/sleep", "infinity"],
    join(logs, "node.log"),
  );
  const inside = (command: readonly string[]) => {
    const target = `--target=${childOf(machine.pid)}`;
    return ["nsenter", target, ...namespaces, "--", "env", "TMPDIR=/run/tmp", ...command];
  };
  const runInside = async (...command: readonly string[]) => {
    const [program = "", ...words] = inside(command);
    const { stdout } = await run(program, words, { maxBuffer: 1 << 26 });
    return stdout;
  };
  const start = (part: string, ...command: readonly string[]) =>
    startPart(() => inside(command), join(logs, `${part}.log`), childOf);
  const entered = () =>
    until(() => runInside("test", "-e", "/run/entered"), "the node's namespaces are ready");
  const runtimeReady = () =>
    until(() => runInside("ctr", `--address=${RUNTIME_SOCKET}`, "version"), "containerd answers");

  await entered();
  const containerd = await start("containerd", "containerd", "--config=/var/lib/containerd.toml");
  await runtimeReady();
  const images: Images = JSON.parse(process.env.CLUSTER_IMAGES ?? "{}");
  for (const tarball of Object.values(images))
    await runInside("ctr", `--address=${RUNTIME_SOCKET}`, "--namespace=k8s.io", "images", "import", tarball);
  /** Resolves when kubelet is healthy. Starts it again if it ended, as a service manager does: CRI may not be up yet. */
  const keptUp = async (kubelet: Part) => {
    const healthz = `http://${NODE_ADDRESS}:10248/healthz`;
    await until(async () => {
      const ended = await Promise.race([kubelet.exited.then(() => true), delay(200).then(() => false)]);
      if (ended) await kubelet.start();
      const { ok } = await fetch(healthz);
      if (!ok) throw new Error(`${healthz} does not answer 200`);
    }, "kubelet is healthy");
    return kubelet;
  };
  const kubelet = await start(
    "kubelet",
    ...[kubernetes, "kubelet", `--hostname-override=${name}`, `--node-ip=${NODE_ADDRESS}`],
    ...["--config=/var/lib/kubelet-config.yaml", `--kubeconfig=${controlPlane.kubeconfig(`node-${name}`)}`],
    ...["--root-dir=/var/lib/kubelet", "--cert-dir=/var/lib/kubelet/pki", "--v=2"],
  );
  await keptUp(kubelet);
  const close = async () => {
    if (existsSync(`/proc/${machine.pid}`)) process.kill(childOf(machine.pid), "SIGKILL");
    await Promise.all([machine.exited, kubelet.exited, containerd.exited]);
  };
  return {
    ...{ name, kubelet, keptUp, containerd, at, run: runInside },
    killContainer: (containerId: string) => {
      const id = containerId.replace("containerd://", "");
      return runInside("ctr", "--namespace=k8s.io", "tasks", "kill", "--signal=SIGKILL", id);
    },
    /** Everything on the node ends between two instructions; its files stay as they are, sockets too. */
    cutPower: async () => {
      await close();
      await forgetGroups();
    },
    boot: async () => {
      await machine.start();
      await entered();
      await containerd.start();
      await runtimeReady();
      await kubelet.start();
      await keptUp(kubelet);
    },
    [Symbol.asyncDispose]: close,
  };
}

/** No control group outlives a power cut, and with these kubelet would spend half a minute. */
async function forgetGroups(): Promise<void> {
  const pods = ["/sys/fs/cgroup", "-depth", "-type", "d", "-path", "*/kubepods*"];
  await until(() => run("find", [...pods, "-exec", "rmdir", "{}", "+"]), "the pods' control groups are gone");
}

function childOf(pid: number): number {
  const child = Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"), 10);
  if (Number.isNaN(child)) throw new Error(`process ${pid} has no child`);
  return child;
}

/** containerd's, for 1.6 and later: nothing is pulled, and images lie in layers over each other. */
function containerdConfiguration(): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]

[grpc]
address = "${RUNTIME_SOCKET}"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${IMAGES.pause}"
# Without CAP_SYS_RESOURCE no process may lower a score, and a container that asks for it would not start.
restrict_oom_score_adj = true

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "/var/lib/cni"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
`;
}

/** Where the node listens: enter-cluster.sh gives it to the bridge. */
export const NODE_ADDRESS = "192.168.99.1";

/** Pods on a bridge, which the node itself is on: the way to the API server and to the node, and no more. */
function cniConfiguration(): string {
  return JSON.stringify({
    cniVersion: "0.4.0",
    name: "pods",
    plugins: [
      {
        type: "bridge",
        bridge: "cni0",
        isGateway: true,
        ipam: {
          type: "host-local",
          ranges: [[{ subnet: "10.244.1.0/24" }]],
          routes: [{ dst: "10.96.0.0/16" }, { dst: "192.168.99.0/24" }],
          dataDir: "/run/addresses",
        },
      },
    ],
  });
}

/** kubelet's, with its defaults wherever they matter to a registration. JSON is YAML. */
function kubeletConfiguration(caFile: string): string {
  return JSON.stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: NODE_ADDRESS,
    healthzBindAddress: NODE_ADDRESS,
    authentication: {
      x509: { clientCAFile: caFile },
      webhook: { enabled: false },
      anonymous: { enabled: false },
    },
    authorization: { mode: "AlwaysAllow" },
    cgroupDriver: "cgroupfs",
    containerRuntimeEndpoint: `unix://${RUNTIME_SOCKET}`,
    failCgroupV1: false,
    failSwapOn: false,
    evictionHard: { "memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
    imageGCHighThresholdPercent: 100,
    resolvConf: "/var/lib/resolv.conf",
    volumePluginDir: "/var/lib/kubelet/volume-plugins",
    oomScoreAdj: 0,
  });
}
