import { writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Cluster } from "./cluster";
import {
  type Contestant,
  containerOf,
  OFFICIAL,
  OURS,
  RETRY,
  registrationSocketOf,
  TOPOLOGY_KEY,
} from "./objects";
import type { Player, Role, Scenario } from "./play";
import type { Change, Stage } from "./stage";

type Cause = Scenario["cause"];

const ending: Change = (daemonSet) => {
  const registrar = containerOf(daemonSet, "registrar");
  registrar.args = registrar.args.filter((arg) => arg !== RETRY);
};
type Limits = Readonly<Record<string, string>>;
const rollOut: Change = ({ spec }) => {
  spec.template.metadata.annotations = { "example.com/rolled-out": String(performance.now()) };
};
const eachOf = <One extends Stage, Value>(stages: readonly One[], act: (stage: One) => Promise<Value>) =>
  Promise.all(stages.map(act));

const PATIENT = { limitMs: 180_000, ours: { comesBack: true } };

const setTopology = ({ kubectl, nodeName }: Cluster, value?: "elsewhere") =>
  kubectl("label", "node", nodeName, "--overwrite", `${TOPOLOGY_KEY}${value ? `=${value}` : "-"}`);

/** The node's label differs from the drivers', and goes for all roles at once: each was applied its `leadMs` before. */
function clash(roles: readonly (Role & { readonly leadMs: number })[]): Scenario {
  const byLead = [...new Set(roles.map(({ leadMs }) => leadMs))].sort((one, other) => other - one);
  return {
    ...{ title: "topology clash", roles, ...PATIENT },
    // Restarts count from the applies on, so these belong to the cause.
    prepare: (_players, cluster) => setTopology(cluster, "elsewhere"),
    cause: async (players, cluster) => {
      for (const [index, leadMs] of byLead.entries()) {
        const due = players.filter(({ role }) => role.leadMs === leadMs);
        await eachOf(due, (player) => player.apply(player.role.change));
        await delay(leadMs - (byLead[index + 1] ?? 0));
      }
      await setTopology(cluster);
      return performance.now();
    },
    undo: (cluster) => setTopology(cluster),
  };
}

const apiServerAway = (awayMs: number, roles: readonly Role[]): Scenario => ({
  ...{ title: `API server away for ${awayMs / 1000} s`, roles, ...PATIENT },
  cause: async (players, { controlPlane, node }) => {
    const { apiServer, ready } = controlPlane;
    const statuses = await eachOf(players, (player) => player.status("registrar"));
    await apiServer.kill();
    await Promise.all(statuses.map(({ containerID = "" }) => node.killContainer(containerID)));
    await delay(awayMs);
    const back = performance.now();
    await apiServer.start();
    await ready();
    return back;
  },
});

/** Something that happens to plugins that are registered, after which ours comes back without a restart. */
const fault = (title: string, cause: Cause, more: Partial<Scenario> = {}): Scenario => ({
  ...{ title, cause, ours: { comesBack: true, restarts: 0 } },
  ...more,
});

const freshWith = (title: string, limits?: Limits, prepare = async () => {}): Scenario => {
  const change: Change = (daemonSet) => {
    if (limits === undefined) return;
    containerOf(daemonSet, "registrar").resources = { requests: { cpu: "10m", memory: "16Mi" }, limits };
  };
  const apply: Cause = (stages) => eachOf(stages, (stage) => stage.apply(change));
  return fault(title, apply, { alone: true, prepare });
};

const kill =
  (container: "registrar" | "hostpath"): Cause =>
  (stages) =>
    eachOf(stages, (stage) => stage.killContainer(container));

/** Empties the page cache, as a reboot does: the registrar's program is read again, and charged to its container. */
const emptyPageCache = async () => writeFileSync("/proc/sys/vm/drop_caches", "1");

const cutPower: Cause = async (_players, { node }) => {
  await node.cutPower();
  await node.boot();
  return performance.now();
};

/** An update whose pods overlap, with a driver that leaves or removes the socket of its successor. */
function surge(title: string, flag: "--leave-socket" | "--remove-socket"): Scenario {
  const change: Change = (daemonSet) => {
    daemonSet.spec.updateStrategy.rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    containerOf(daemonSet, "hostpath").args.push(flag);
  };
  const changeAgain: Change = (daemonSet) => {
    change(daemonSet);
    rollOut(daemonSet);
  };
  return {
    title,
    roles: [{ title, change }],
    ours: { comesBack: true, podRuns: flag === "--leave-socket" },
    limitMs: 60_000,
    cause: (stages) => rollOutWith(stages, (stage) => stage.apply(changeAgain)),
  };
}

async function deletePods({ cluster, pods }: Player): Promise<void> {
  const names = (await pods()).map(({ metadata }) => metadata.name);
  await cluster.kubectl("delete", "pod", "--namespace=kube-system", "--wait=false", ...names);
}

const deleteCsiNode: Cause = (_players, { kubectl, nodeName }) => kubectl("delete", "csinode", nodeName);

const removeSockets: Cause = (players, { node }) =>
  node.run("rm", ...players.map(({ plugin }) => registrationSocketOf(plugin)));

async function rollOutWith(players: readonly Player[], apply: (player: Player) => Promise<void>) {
  const status = ["rollout", "status", "--namespace=kube-system", "--timeout=40s"];
  await eachOf(players, apply);
  await eachOf(players, ({ cluster, plugin }) =>
    cluster.kubectl(...status, `daemonset/${plugin.daemonSet}`).catch(() => {}),
  );
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

export const SCENARIOS: readonly Scenario[] = [
  freshWith("fresh apply"),
  freshWith("fresh apply, registrar limited to 100m of a processor", { cpu: "100m", memory: "100Mi" }),
  freshWith("fresh apply, registrar limited to 64Mi of memory", { memory: "64Mi" }),
  freshWith(
    "fresh apply with an empty page cache, registrar limited to 64Mi of memory",
    { memory: "64Mi" },
    emptyPageCache,
  ),
  fault("registrar killed", kill("registrar"), { ours: { comesBack: true, restarts: 1 } }),
  fault("driver killed", kill("hostpath")),
  fault("registration socket removed", removeSockets),
  fault("pod deleted", (stages) => eachOf(stages, deletePods)),
  fault("rolling update", (stages) => eachOf(stages, (stage) => stage.apply(rollOut))),
  surge("update with maxSurge: 1", "--leave-socket"),
  surge("update with maxSurge: 1, the old driver removes the new one's socket", "--remove-socket"),
  swap(OFFICIAL, OURS),
  swap(OURS, OFFICIAL),
  fault("kubelet killed and started", (_players, { node }) => node.kubelet.restart()),
  fault("containerd killed and started", (_players, { node }) => node.containerd.restart()),
  fault("power cut, dead sockets left, from kubelet's health on", cutPower, {
    ours: { comesBack: true },
  }),
  apiServerAway(20_000, [{ title: "API server away for 20 s, registrar killed meanwhile", change: ending }]),
  apiServerAway(40_000, [
    { title: "API server away for 40 s, registrar killed meanwhile", change: ending },
    { title: "API server away for 40 s, with `--on-registration-failure=retry`", only: "ours" },
  ]),
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
  fault("`kubectl delete csinode`", deleteCsiNode, {
    limitMs: 30_000,
    ours: { comesBack: false },
    // kubelet writes it anew when it starts, and lists what it registers then.
    undo: (cluster) => cluster.node.kubelet.restart(),
  }),
];
