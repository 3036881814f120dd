import { writeFileSync } from "node:fs";
import type { Inside } from "./cluster";
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
import { type Contestant, OFFICIAL, OURS, registrationSocketOf } from "./objects";
import type { Part } from "./part";
import type { Player, Scenario } from "./play";
import { type Change, insideOf } from "./stage";

type Cause = Scenario["cause"];

/** Something that happens to plugins that are registered, after which ours comes back without a restart. */
const fault = (title: string, cause: Cause, more: Partial<Scenario> = {}): Scenario => ({
  ...{ title, cause, ours: { comesBack: true, restarts: 0 } },
  ...more,
});

/** As {@link fault}, where only a cluster of the suite's own lets one do it. */
const faultInside = (
  title: string,
  happen: (inside: Inside, stages: readonly Player[]) => Promise<unknown>,
  more: Partial<Scenario> = {},
): Scenario =>
  fault(title, (stages) => happen(insideOf(clusterOf(stages)), stages), { needsInside: true, ...more });

const freshWith = (title: string, change?: Change, prepare = async () => {}): Scenario =>
  fault(title, (stages) => eachOf(stages, (stage) => stage.apply(change)), { alone: true, prepare });

/** Empties the page cache, as a reboot does: the registrar's program is read again, and charged to its container. */
const emptyPageCache = async () => writeFileSync("/proc/sys/vm/drop_caches", "1");

async function killAndStart(part: Part): Promise<void> {
  await part.kill();
  await part.start();
}

/** An update whose pods overlap, with a driver that leaves or removes the socket of its successor. */
function surge(title: string, flag: "--leave-socket" | "--remove-socket"): Scenario {
  const update: Change = (daemonSet) => {
    surging(flag)(daemonSet);
    rollOut(daemonSet);
  };
  const rolledOut = ["rollout", "status", "--namespace=kube-system", "--timeout=40s"];
  return {
    title,
    roles: [{ title, change: surging(flag) }],
    // Registered it is in either case.
    ours: { comesBack: true, podRuns: flag === "--leave-socket" },
    limitMs: 60_000,
    cause: async (stages) => {
      await eachOf(stages, (stage) => stage.apply(update));
      await eachOf(stages, ({ cluster, plugin }) =>
        cluster.kubectl(...rolledOut, `daemonset/${plugin.daemonSet}`).catch(() => {}),
      );
    },
  };
}

function swap(from: Contestant, to: Contestant): Scenario {
  const title = `swap of the image: ${from.name} to ${to.name}`;
  return fault(title, (stages) => eachOf(stages, (stage) => stage.apply(undefined, to)), {
    needsOfficial: true,
    roles: [{ title, only: "ours" }],
    prepare: async (stages) => {
      await eachOf(stages, (stage) => stage.apply(undefined, from));
      await eachOf(stages, (stage) => stage.registered());
    },
  });
}

/** Everything that is timed, in the order of the table. */
export const SCENARIOS: readonly Scenario[] = [
  freshWith("fresh apply"),
  freshWith(
    "fresh apply, registrar limited to 100m of a processor",
    withLimits({ cpu: "100m", memory: "100Mi" }),
  ),
  freshWith("fresh apply, registrar limited to 64Mi of memory", withLimits({ memory: "64Mi" })),
  freshWith(
    "fresh apply with an empty page cache, registrar limited to 64Mi of memory",
    withLimits({ memory: "64Mi" }),
    emptyPageCache,
  ),
  fault("registrar killed", (stages) => eachOf(stages, (stage) => stage.killContainer("registrar")), {
    needsInside: true,
    ours: { comesBack: true, restarts: 1 },
  }),
  fault("driver killed", (stages) => eachOf(stages, (stage) => stage.killContainer("hostpath")), {
    needsInside: true,
  }),
  faultInside("registration socket removed", ({ node }, stages) =>
    node.run("rm", ...stages.map(({ plugin }) => registrationSocketOf(plugin))),
  ),
  fault("pod deleted", async (stages) => {
    const pods = (await eachOf(stages, (stage) => stage.pods())).flat();
    const names = pods.map(({ metadata }) => metadata.name);
    await clusterOf(stages).kubectl("delete", "pod", "--namespace=kube-system", "--wait=false", ...names);
  }),
  fault("rolling update", (stages) => eachOf(stages, (stage) => stage.apply(rollOut))),
  surge("update with maxSurge: 1", "--leave-socket"),
  surge("update with maxSurge: 1, the old driver removes the new one's socket", "--remove-socket"),
  swap(OFFICIAL, OURS),
  swap(OURS, OFFICIAL),
  faultInside("kubelet killed and started", ({ node }) => killAndStart(node.kubelet)),
  faultInside("containerd killed and started", ({ node }) => killAndStart(node.containerd)),
  faultInside(
    "power cut, dead sockets left, from kubelet's health on",
    async ({ node }) => {
      await node.cutPower();
      await node.boot();
      return performance.now();
    },
    { ours: { comesBack: true } },
  ),
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
  fault(
    "`kubectl delete csinode`",
    (stages) => {
      const { kubectl, nodeName } = clusterOf(stages);
      return kubectl("delete", "csinode", nodeName);
    },
    {
      limitMs: 30_000,
      ours: { comesBack: false },
      needsInside: true,
      // kubelet writes it anew when it starts, and lists what it registers then.
      undo: (cluster) => killAndStart(insideOf(cluster).node.kubelet),
    },
  ),
  deletedCsiNode("`kubectl delete csinode`, with node readiness", 5),
];
