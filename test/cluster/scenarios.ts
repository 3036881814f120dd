import {
  apiServerAway,
  clash,
  clusterOf,
  eachOf,
  retry,
  rollOut,
  surging,
  withLimits,
} from "./support/faults";
import { OFFICIAL, OURS, registrationSocketOf } from "./support/objects";
import type { Scenario } from "./support/play";
import { type Change, insideOf } from "./support/stage";

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
