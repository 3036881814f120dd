import {
  apiServerAway,
  apiServerAwayMeanwhile,
  clash,
  clusterOf,
  eachOf,
  ending,
  rollOut,
  surging,
  withLimits,
} from "./faults";
import { deletedCsiNode } from "./node-ready";
import { OFFICIAL, OURS, registrationSocketOf } from "./objects";
import type { Scenario } from "./play";
import { type Change, insideOf } from "./stage";

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
  freshWith("fresh apply, registrar limited to 64Mi of memory", withLimits({ memory: "64Mi" })),
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
  ...(["--leave-socket", "--remove-socket"] as const).map((flag): Scenario => {
    const title =
      flag === "--leave-socket"
        ? "update with maxSurge: 1"
        : "update with maxSurge: 1, the old driver removes the new one's socket";
    return {
      title,
      roles: [{ title, change: surging(flag) }],
      // Registered it is in either case.
      ours: { comesBack: true, podRuns: flag === "--leave-socket" },
      limitMs: 60_000,
      cause: async (stages) => {
        await eachOf(stages, (stage) =>
          stage.apply((daemonSet) => {
            surging(flag)(daemonSet);
            rollOut(daemonSet);
          }),
        );
        const rolledOut = ["rollout", "status", "--namespace=kube-system", "--timeout=40s"];
        await eachOf(stages, ({ cluster, plugin }) =>
          cluster.kubectl(...rolledOut, `daemonset/${plugin.daemonSet}`).catch(() => {}),
        );
        return "begin";
      },
    };
  }),
  ...(
    [
      [OFFICIAL, OURS],
      [OURS, OFFICIAL],
    ] as const
  ).map(
    ([from, to]): Scenario => ({
      title: `swap of the image: ${from.name} to ${to.name}`,
      needsOfficial: true,
      roles: [{ title: `swap of the image: ${from.name} to ${to.name}`, only: "ours" }],
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
    title: "power cut, dead sockets left, from kubelet's health on",
    needsInside: true,
    ours: { comesBack: true },
    cause: async (stages) => {
      const { node } = insideOf(clusterOf(stages));
      await node.cutPower();
      await node.boot();
      return "end";
    },
  },
  apiServerAway(20_000, [{ title: "API server away for 20 s, registrar killed meanwhile", change: ending }]),
  apiServerAway(40_000, [
    { title: "API server away for 40 s, registrar killed meanwhile", change: ending },
    {
      title: "API server away for 40 s, with `--on-registration-failure=retry`",
      only: "ours",
    },
  ]),
  apiServerAwayMeanwhile(20_000, "API server away for 20 s, from the middle of a registration on"),
  clash([
    ...[20, 35, 50].map((seconds) => ({
      title: `topology clash, ended ${seconds} s after the apply`,
      leadMs: seconds * 1_000,
      change: ending,
    })),
    {
      title: "topology clash, ended 50 s after the apply, with `--on-registration-failure=retry`",
      leadMs: 50_000,
      only: "ours",
    },
  ]),
  {
    title: "`kubectl delete csinode`",
    limitMs: 30_000,
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
  deletedCsiNode("`kubectl delete csinode`, with node readiness", 5),
];
