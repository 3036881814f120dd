import { setTimeout as delay } from "node:timers/promises";
import type { Cluster } from "./cluster";
import type { Contestant } from "./objects";
import { type Change, createStage, type Pod, type Stage } from "./stage";

/** What is done to node plugins, and measured from then on. */
export interface Scenario {
  readonly title: string;
  readonly needsOfficial?: boolean;
  /** What is played beside each other with one cause, each a row of the table. By default one, of the same title. */
  readonly roles?: readonly Role[];
  /** Its contestants are played one after the other, where they would wait for each other's processor time. */
  readonly alone?: boolean;
  /** A driver that is missing then counts as not back. 120 s by default. */
  readonly limitMs?: number;
  /** What must be true of ours; other values are only reported. */
  readonly ours: { readonly comesBack: boolean; readonly podRuns?: boolean; readonly restarts?: number };
  readonly prepare?: (players: readonly Player[], cluster: Cluster) => Promise<unknown>;
  /** Time counts from its beginning unless it resolves with another moment, as performance.now() counts. */
  readonly cause: (players: readonly Player[], cluster: Cluster) => Promise<unknown>;
  readonly undo?: (cluster: Cluster) => Promise<unknown>;
}

export interface Role {
  readonly title: string;
  readonly change?: Change;
  /** The only contestant that plays it. Default: all. */
  readonly only?: Contestant["name"];
  /** How long before the cause ends the plugin is applied, where that is part of the cause. Milliseconds. */
  readonly leadMs?: number;
}

export interface Player extends Stage {
  readonly role: Role;
}

export const rolesOf = ({ roles, title }: Scenario): readonly Role[] => roles ?? [{ title }];

export interface Outcome {
  readonly title: string;
  readonly contestant: Contestant["name"];
  /** For how long CSINode did not list the driver, until it came back for good; undefined if it did not. */
  readonly missingMs: number | undefined;
  /** When kubelet last reported the driver as registered, by the registrar's log; undefined if never since. */
  readonly registeredMs?: number | undefined;
  /** When a pod with an inline volume, made as time began, ran; undefined if it did not. */
  readonly podMs: number | undefined;
  readonly restarts: number;
}

const STABLE_MS = 4_000;

export async function play(
  cluster: Cluster,
  scenario: Scenario,
  contestants: readonly Contestant[],
): Promise<readonly Outcome[]> {
  const { prepare = applyAndWait, cause, undo } = scenario;
  const players = rolesOf(scenario).flatMap((role, index) =>
    contestants
      .filter(({ name }) => role.only === undefined || role.only === name)
      .map((contestant): Player => {
        const name = `${contestant.name}-${index}`;
        const plugin = { driver: `${name}.csi.example.com`, daemonSet: `plugin-${name}` };
        return { ...createStage(cluster, contestant, plugin), role };
      }),
  );
  try {
    await prepare(players, cluster);
    const before = await Promise.all(players.map(restartsByPod));
    const begin = performance.now();
    const from = await cause(players, cluster);
    const zero = typeof from === "number" ? from : begin;
    const watched = players.map((player, at) => watch(player, scenario, zero, before[at] ?? new Map()));
    return await Promise.all(watched);
  } finally {
    await undo?.(cluster);
    await Promise.all(players.map((player) => player[Symbol.asyncDispose]()));
  }
}

async function applyAndWait(players: readonly Player[]): Promise<void> {
  await Promise.all(players.map((player) => player.apply(player.role.change)));
  await Promise.all(players.map((player) => player.registered()));
}

async function watch(
  player: Player,
  { limitMs = 120_000 }: Scenario,
  zero: number,
  before: ReadonlyMap<string, number>,
): Promise<Outcome> {
  const { cluster, contestant, plugin, role } = player;
  const { record } = cluster;
  const giveUpAt = zero + limitMs;
  const left = () => Math.max(1_000, giveUpAt - performance.now());
  const pod = player.mountsVolume(`user-of-${plugin.daemonSet}`, left()).then(
    () => performance.now() - zero,
    () => undefined,
  );
  const isStable = () => record.listedMs(plugin.driver, zero) > STABLE_MS;
  while (!isStable() && performance.now() < giveUpAt) await delay(100);
  const podMs = await pod;
  while (!isStable() && performance.now() < giveUpAt) await delay(100);
  const after = await restartsByPod(player);
  return {
    title: role.title,
    contestant: contestant.name,
    missingMs: isStable() ? record.missingMs(plugin.driver, zero, performance.now()) : undefined,
    registeredMs: await lastRegistered(player, zero),
    podMs,
    restarts: [...after].reduce((sum, [uid, count]) => sum + count - (before.get(uid) ?? 0), 0),
  };
}

async function restartsByPod(stage: Stage): Promise<ReadonlyMap<string, number>> {
  const restartsOf = ({ status }: Pod) =>
    status.containerStatuses?.find(({ name }) => name === "registrar")?.restartCount ?? 0;
  return new Map((await stage.pods()).map((pod) => [pod.metadata.uid, restartsOf(pod)]));
}

/** When kubelet last reported the driver as registered: milliseconds since `zero`, undefined if before. */
async function lastRegistered({ cluster, plugin }: Stage, zero: number): Promise<number | undefined> {
  const log = await cluster.kubectl(
    ...["logs", "--namespace=kube-system", `--selector=app.kubernetes.io/name=${plugin.daemonSet}`],
    ...["--container=registrar", "--timestamps", "--tail=-1"],
  );
  const reports = log.matchAll(/^(\S+) .*plugin_?registered:\s*true/gim);
  const times = Array.from(reports, ([, time = ""]) => Date.parse(time) - performance.timeOrigin - zero);
  return times.filter((time) => time > 0).at(-1);
}
