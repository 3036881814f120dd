import { setTimeout as delay } from "node:timers/promises";
import { IMAGES } from "./support/images";
import { containerOf, OFFICIAL, OURS, registrationSocketOf, TOPOLOGY_KEY } from "./support/objects";
import type { Scenario } from "./support/play";
import { type Change, insideOf, type Stage } from "./support/stage";

const withArgs =
  (...args: readonly string[]): Change =>
  (daemonSet) =>
    void containerOf(daemonSet, "registrar").args.push(...args);
const withLimits =
  (limits: Readonly<Record<string, string>>): Change =>
  (daemonSet) => {
    containerOf(daemonSet, "registrar").resources = { requests: { cpu: "10m", memory: "16Mi" }, limits };
  };
/** A new pod, nothing else. */
const rollOut: Change = ({ spec }) => {
  spec.template.metadata.annotations = { "example.com/rolled-out": String(performance.now()) };
};
const eachOf = <Value>(stages: readonly Stage[], act: (stage: Stage) => Promise<Value>) =>
  Promise.all(stages.map(act));
const clusterOf = ([stage]: readonly Stage[]) => {
  if (!stage) throw new Error("there is no stage");
  return stage.cluster;
};
const retry = withArgs("--on-registration-failure=retry");

/** Pods that overlap: the new one runs before the old one is asked to end. */
const surging =
  (...driverArgs: readonly string[]): Change =>
  (daemonSet) => {
    daemonSet.spec.updateStrategy.rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    const driver = containerOf(daemonSet, "hostpath");
    driver.image = IMAGES.driver; // its socket's end is told by a flag
    driver.args.push(...driverArgs);
  };

/** The label of the node says something else than the drivers, for so long from the apply on. */
function clash(holdMs: number, variation: Partial<Scenario> = {}): Scenario {
  return {
    title: `topology clash, ended ${holdMs / 1000} s after the apply`,
    needsInside: true,
    limitMs: 180_000,
    ours: { comesBack: true },
    prepare: async (stages, change) => {
      const cluster = clusterOf(stages);
      await cluster.kubectl("label", "node", cluster.nodeName, "--overwrite", `${TOPOLOGY_KEY}=elsewhere`);
      await eachOf(stages, (stage) => stage.apply(change));
    },
    cause: async (stages) => {
      const { kubectl, nodeName } = clusterOf(stages);
      await delay(holdMs);
      await kubectl("label", "node", nodeName, `${TOPOLOGY_KEY}-`);
      return "end";
    },
    undo: ({ kubectl, nodeName }) => kubectl("label", "node", nodeName, `${TOPOLOGY_KEY}-`),
    ...variation,
  };
}

/** The API server is away, and the registrars start anew meanwhile. */
function apiServerAway(awayMs: number, variation: Partial<Scenario> = {}): Scenario {
  return {
    title: `API server away for ${awayMs / 1000} s, registrar killed meanwhile`,
    needsInside: true,
    limitMs: 180_000,
    ours: { comesBack: true },
    cause: async (stages) => {
      const { controlPlane, node } = insideOf(clusterOf(stages));
      const ids = await eachOf(stages, async (stage) => (await stage.status("registrar")).containerID ?? "");
      await controlPlane.apiServer.kill();
      await eachOf(stages, (stage) => killContainerOf(node, ids[stages.indexOf(stage)] ?? ""));
      await delay(awayMs);
      const back = performance.now();
      await controlPlane.apiServer.start();
      await controlPlane.ready();
      return back;
    },
    ...variation,
  };
}

const killContainerOf = (node: { run(...words: readonly string[]): Promise<string> }, id: string) =>
  node.run("ctr", "--namespace=k8s.io", "tasks", "kill", "--signal=SIGKILL", id.replace("containerd://", ""));

const freshWith = (title: string, change?: Change): Scenario => ({
  title,
  alone: true,
  prepare: async () => {},
  ours: { comesBack: true, restarts: 0 },
  cause: async (stages) => {
    await eachOf(stages, (stage) => stage.apply(change));
    return "begin";
  },
});

/** Everything whose times are told, in the order of the table. */
export const SCENARIOS: readonly Scenario[] = [
  freshWith("fresh apply"),
  freshWith(
    "fresh apply, registrar limited to 100m of a processor",
    withLimits({ cpu: "100m", memory: "100Mi" }),
  ),
  freshWith("fresh apply, registrar limited to 32Mi of memory", withLimits({ memory: "32Mi" })),
  {
    title: "registrar killed",
    needsInside: true,
    ours: { comesBack: true, restarts: 1 },
    cause: async (stages) => {
      await eachOf(stages, (stage) => stage.killContainer("registrar"));
      return "begin";
    },
  },
  {
    title: "driver killed",
    needsInside: true,
    ours: { comesBack: true, restarts: 0 },
    cause: async (stages) => {
      await eachOf(stages, (stage) => stage.killContainer("hostpath"));
      return "begin";
    },
  },
  {
    title: "registration socket removed",
    needsInside: true,
    ours: { comesBack: true, restarts: 0 },
    cause: async (stages) => {
      const { node } = insideOf(clusterOf(stages));
      await node.run("rm", ...stages.map(({ plugin }) => registrationSocketOf(plugin)));
      return "begin";
    },
  },
  {
    title: "pod deleted",
    ours: { comesBack: true, restarts: 0 },
    cause: async (stages) => {
      const pods = (await eachOf(stages, (stage) => stage.pods())).flat();
      const names = pods.map(({ metadata }) => metadata.name);
      await clusterOf(stages).kubectl("delete", "pod", "--namespace=kube-system", "--wait=false", ...names);
      return "begin";
    },
  },
  {
    title: "rolling update",
    ours: { comesBack: true, restarts: 0 },
    cause: async (stages) => {
      await eachOf(stages, (stage) => stage.apply(rollOut));
      return "begin";
    },
  },
  ...(["--leave-socket", "--remove-socket"] as const).map(
    (flag): Scenario => ({
      title:
        flag === "--leave-socket"
          ? "update with maxSurge: 1"
          : "update with maxSurge: 1, the old driver removes the new one's socket",
      ours: { comesBack: flag === "--leave-socket" },
      limitMs: 60_000,
      change: surging(flag),
      cause: async (stages) => {
        await eachOf(stages, (stage) =>
          stage.apply((daemonSet) => {
            surging(flag)(daemonSet);
            rollOut(daemonSet);
          }),
        );
        await eachOf(stages, (stage) =>
          stage.cluster
            .kubectl(
              "rollout",
              "status",
              "--namespace=kube-system",
              `daemonset/${stage.plugin.daemonSet}`,
              "--timeout=40s",
            )
            .catch(() => {}),
        );
        return "begin";
      },
    }),
  ),
  ...(
    [
      [OFFICIAL, OURS],
      [OURS, OFFICIAL],
    ] as const
  ).map(
    ([from, to]): Scenario => ({
      title: `swap of the image: ${from.name} to ${to.name}`,
      needsOfficial: true,
      only: "ours",
      ours: { comesBack: true, restarts: 0 },
      prepare: async (stages) => {
        await eachOf(stages, (stage) => stage.apply(undefined, from));
        await eachOf(stages, (stage) => stage.registered());
      },
      cause: async (stages) => {
        await eachOf(stages, (stage) => stage.apply(undefined, to));
        return "begin";
      },
    }),
  ),
  {
    title: "kubelet killed and started",
    needsInside: true,
    ours: { comesBack: true, restarts: 0 },
    cause: async (stages) => {
      const { kubelet } = insideOf(clusterOf(stages)).node;
      await kubelet.kill();
      await kubelet.start();
      return "begin";
    },
  },
  {
    title: "containerd killed and started",
    needsInside: true,
    ours: { comesBack: true, restarts: 0 },
    cause: async (stages) => {
      const { containerd } = insideOf(clusterOf(stages)).node;
      await containerd.kill();
      await containerd.start();
      return "begin";
    },
  },
  {
    title: "power cut: dead sockets left, from the start of kubelet on",
    needsInside: true,
    ours: { comesBack: true },
    cause: async (stages) => {
      const { node } = insideOf(clusterOf(stages));
      await node.cutPower();
      await node.boot();
      return "end";
    },
  },
  apiServerAway(20_000),
  apiServerAway(40_000),
  apiServerAway(40_000, {
    title: "API server away for 40 s, with `--on-registration-failure=retry`",
    only: "ours",
    change: retry,
  }),
  clash(20_000),
  clash(35_000),
  clash(50_000),
  clash(50_000, {
    title: "topology clash, ended 50 s after the apply, with `--on-registration-failure=retry`",
    only: "ours",
    change: retry,
  }),
  {
    title: "`kubectl delete csinode`",
    limitMs: 45_000,
    ours: { comesBack: false },
    cause: async (stages) => {
      const { kubectl, nodeName } = clusterOf(stages);
      await kubectl("delete", "csinode", nodeName);
      return "begin";
    },
    // kubelet writes it anew when it starts, and lists what it registers then.
    undo: async (cluster) => {
      const { kubelet } = insideOf(cluster).node;
      await kubelet.kill();
      await kubelet.start();
    },
    needsInside: true,
  },
];
