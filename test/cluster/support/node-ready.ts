import { parse } from "yaml";
import { nodeAccess, serviceAccount } from "../../../src/tools/manifest/node-access";
import { clusterOf, eachOf } from "./faults";
import type { DaemonSet } from "./objects";
import type { Player, Role, Scenario } from "./play";
import type { Change } from "./stage";

/** The objects that `registrar manifest --startup-taint` adds, and the DaemonSet with its access to the API server. */
function withAccess(daemonSet: DaemonSet) {
  const { name, namespace = "default" } = daemonSet.metadata;
  const access = nodeAccess(
    { name, namespace },
    {
      startupTaints: [{ key: "{driver}/agent-not-ready", effect: undefined }],
      condition: undefined,
      drivers: undefined,
      confinedBy: "policy",
    },
  );
  const read = ({ lines }: { readonly lines: readonly string[] }) => parse(lines.join("\n"));
  const { template } = daemonSet.spec;
  const add = (container: Record<string, unknown>) => ({
    ...container,
    ...read(access.env),
    args: [...(container.args as readonly string[]), ...read(access.args)],
    volumeMounts: [...(container.volumeMounts as readonly object[]), ...read(access.mount)],
  });
  const pod = {
    ...template.spec,
    serviceAccountName: name,
    containers: template.spec.containers.map((container) =>
      container.name === "registrar" ? add({ ...container }) : container,
    ),
    volumes: [...((template.spec.volumes ?? []) as readonly object[]), ...read(access.volume)],
  };
  return {
    rights: [serviceAccount({ name, namespace }), ...access.before].map(read),
    spec: { ...daemonSet.spec, template: { ...template, spec: pod } } as DaemonSet["spec"],
  };
}

/** The CSINode of a node with so many drivers is deleted. Each registrar looks at its own time, within five minutes. */
export function deletedCsiNode(title: string, drivers: number): Scenario {
  const applied: object[] = [];
  const seeingToIt: Change = (daemonSet) => {
    const { rights, spec } = withAccess(daemonSet);
    applied.push(...rights);
    Object.assign(daemonSet.spec, spec);
  };
  return {
    title,
    roles: Array.from({ length: drivers }, (): Role => ({ title, only: "ours", change: seeingToIt })),
    needsInside: true,
    once: true,
    limitMs: 360_000,
    ours: { comesBack: true, restarts: 0 },
    prepare: async (players) => {
      await eachOf(players, (player) => player.apply(player.role.change));
      await clusterOf(players).apply(applied);
      await eachOf(players, (player) => player.registered(180_000));
    },
    cause: deleteCsiNode,
    undo: ({ remove }) => remove(applied.splice(0)),
  };
}

export function deleteCsiNode(players: readonly Player[]): Promise<string> {
  const { kubectl, nodeName } = clusterOf(players);
  return kubectl("delete", "csinode", nodeName);
}
