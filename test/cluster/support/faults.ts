import { setTimeout as delay } from "node:timers/promises";
import type { Cluster } from "./cluster";
import { containerOf, RETRY, TOPOLOGY_KEY } from "./objects";
import type { Role, Scenario } from "./play";
import type { Change, Stage } from "./stage";

export const ending: Change = (daemonSet) => {
  const registrar = containerOf(daemonSet, "registrar");
  registrar.args = registrar.args.filter((arg) => arg !== RETRY);
};
export type Limits = Readonly<Record<string, string>>;
export const withLimits =
  (limits: Limits): Change =>
  (daemonSet) => {
    containerOf(daemonSet, "registrar").resources = { requests: { cpu: "10m", memory: "16Mi" }, limits };
  };
export const all =
  (...changes: readonly Change[]): Change =>
  (daemonSet) => {
    for (const change of changes) change(daemonSet);
  };
export const rollOut: Change = ({ spec }) => {
  spec.template.metadata.annotations = { "example.com/rolled-out": String(performance.now()) };
};
export const eachOf = <One extends Stage, Value>(
  stages: readonly One[],
  act: (stage: One) => Promise<Value>,
) => Promise.all(stages.map(act));
export const clusterOf = ([stage]: readonly Stage[]) => {
  if (!stage) throw new Error("there is no stage");
  return stage.cluster;
};

export const surging: Change = (daemonSet) => {
  daemonSet.spec.updateStrategy.rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
};
export const withDriverFlag =
  (flag: string): Change =>
  (daemonSet) => {
    containerOf(daemonSet, "hostpath").args.push(flag);
  };

const PATIENT = { limitMs: 180_000, ours: { comesBack: true } };

const setTopology = ({ kubectl, nodeName }: Cluster, value?: "elsewhere") =>
  kubectl("label", "node", nodeName, "--overwrite", `${TOPOLOGY_KEY}${value ? `=${value}` : "-"}`);

/** The node's label differs from the drivers', and goes for all roles at once: each was applied its `leadMs` before. */
export function clash(roles: readonly (Role & { readonly leadMs: number })[]): Scenario {
  const byLead = [...new Set(roles.map(({ leadMs }) => leadMs))].sort((one, other) => other - one);
  return {
    ...{ title: "topology clash", roles, ...PATIENT },
    // Restarts count from the applies on, so these belong to the cause.
    prepare: async (players) => void (await setTopology(clusterOf(players), "elsewhere")),
    cause: async (players) => {
      for (const [index, leadMs] of byLead.entries()) {
        const due = players.filter(({ role }) => role.leadMs === leadMs);
        await eachOf(due, (player) => player.apply(player.role.change));
        await delay(leadMs - (byLead[index + 1] ?? 0));
      }
      await setTopology(clusterOf(players));
      return performance.now();
    },
    undo: (cluster) => setTopology(cluster),
  };
}

export const apiServerAway = (awayMs: number, roles: readonly Role[]): Scenario => ({
  ...{ title: `API server away for ${awayMs / 1000} s`, roles, ...PATIENT },
  cause: async (players) => {
    const { controlPlane, node } = clusterOf(players);
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
