import { setTimeout as delay } from "node:timers/promises";
import { allRegistered } from "../../../test/kubelet/support/crowd";
import type { Contestant } from "../contestants";
import { type Crowd, kubeletOn, startCrowd } from "../crowd";
import { createKeeper } from "../keeper";
import { type Bench, type Finding, type Measure, skipped, type Verdict } from "../measure";
import { type Measured, type Memory, start, totalMemory, totalWork, type Work } from "../processes";

const COUNTS = [1, 5, 20, 100];
/** Garbage is collected 10 s after the last registration, and V8 then looks twice more, within 20 s, of its own accord. */
const REST_MS = 40_000;
const IDLE_MS = 20_000;
/** As the image has it. */
const SIDECAR = "registrar, code cache, sidecar";
const NODE_WIDE = "registrar, code cache, node-wide";

/** Processes that serve the same drivers. */
interface Team {
  readonly name: string;
  readonly pids: readonly number[];
}

interface Resting extends Team {
  readonly memory: Memory;
  /** In IDLE_MS. */
  readonly idle: Work;
}

/** Memory and wake-ups of registrars whose drivers are registered, HTTP on, when nothing happens. */
export const restingMeasure: Measure = {
  name: "resting",
  run: async (bench) => {
    if (bench.kubelet === undefined) return skipped("memory and idle: no kubelet");
    const all = new Map<number, readonly Resting[]>();
    for (const count of COUNTS) {
      bench.say(`memory and idle, ${count} drivers`);
      all.set(count, await restWith(count, bench.kubelet, bench));
    }
    return {
      tables: [tableOf(all, { restMs: bench.restMs(REST_MS), idleMs: bench.restMs(IDLE_MS) })],
      verdicts: verdictsOf(all),
    };
  },
};

async function restWith(count: number, version: string, bench: Bench): Promise<readonly Resting[]> {
  await using owned = createKeeper();
  const crowd = owned.keep(await startCrowd(count));
  const teams: Team[] = [];
  const enter = async (name: string, line: (pluginDir: string) => readonly (readonly string[])[]) => {
    const pluginDir = crowd.pluginDir(`reg-${teams.length}`);
    const kubelet = owned.keep(await kubeletOn(version, pluginDir));
    const members: Measured[] = line(pluginDir).map((command) => owned.keep(start(command)));
    await allRegistered(kubelet, crowd.names);
    teams.push({ name, pids: members.map(({ pid }) => pid) });
  };
  const { registrar, cached, naive, official, http2 } = bench.contestants;
  const each = (contestant: Contestant, flags: readonly string[]) => (pluginDir: string) =>
    crowd.names.map((_, number) => contestant.command(crowd.single(number, pluginDir), flags));
  const oneForAll = (contestant: Contestant) => (pluginDir: string) => [
    contestant.command(crowd.everybody(pluginDir), ["--http-endpoint=127.0.0.1:0"]),
  ];
  if (count === 1) {
    const place = bareServer(crowd);
    teams.push({ name: http2.name, pids: [owned.keep(start(http2.command(place))).pid] });
    await enter(naive.name, each(naive, []));
    await enter(`${registrar.name}, sidecar`, each(registrar, ["--http-endpoint=127.0.0.1:0"]));
    await enter(`${cached.name}, sidecar`, each(cached, ["--http-endpoint=127.0.0.1:0"]));
  }
  await enter("registrar, node-wide", oneForAll(registrar));
  await enter("registrar, code cache, node-wide", oneForAll(cached));
  if (official) await enter(`${count} × official`, each(official, ["--http-endpoint=127.0.0.1:0"]));

  await delay(bench.restMs(REST_MS));
  const before = teams.map(({ pids }) => totalWork(pids));
  await delay(bench.restMs(IDLE_MS));
  return teams.map((team, index) => {
    const [was, is] = [before[index] as Work, totalWork(team.pids)];
    const since = (of: keyof Work) => is[of] - was[of];
    const idle = { cpuMs: since("cpuMs"), ticks: since("ticks"), contextSwitches: since("contextSwitches") };
    return { ...team, memory: totalMemory(team.pids), idle };
  });
}

const bareServer = (crowd: Crowd) => crowd.single(0, crowd.pluginDir("bare"));

function tableOf(
  all: ReadonlyMap<number, readonly Resting[]>,
  { restMs, idleMs }: { readonly restMs: number; readonly idleMs: number },
): Finding["tables"][number] {
  return {
    title: "memory and idle work",
    head: [
      "drivers",
      "",
      ...["RSS", "PSS", "anonymous"].map((kind) => `${kind} MB`),
      ...["CPU ms", "CPU ticks", "context switches"].map((kind) => `${kind} in ${idleMs / 1_000} s`),
    ],
    rows: [...all].flatMap(([count, resting]) =>
      resting.map(({ name, memory, idle }) => [
        `${count}`,
        name,
        ...[memory.rss, memory.pss, memory.anonymous].map((megabytes) => megabytes.toFixed(1)),
        idle.cpuMs.toFixed(1),
        `${idle.ticks}`,
        `${idle.contextSwitches}`,
      ]),
    ),
    note: `Registered with kubelet's real code, HTTP on, ${restMs / 1_000} s after. PSS counts Node's pages as shared with the other Node processes of the bench.`,
  };
}

function verdictsOf(all: ReadonlyMap<number, readonly Resting[]>): readonly Verdict[] {
  const find = (count: number, part: string) => all.get(count)?.find(({ name }) => name.includes(part));
  const verdicts: Verdict[] = [];
  const judge = (
    what: string,
    budget: string,
    value: number | undefined,
    most: number,
    unit: string,
    official?: string,
  ) => {
    if (value === undefined || Number.isNaN(value)) return;
    const measured = `${value.toFixed(2)}${unit}`;
    verdicts.push({ what, budget: `<= ${budget}`, measured, isMet: value <= most, official });
  };
  const megabytes = (memory: Memory | undefined, kind: keyof Memory) =>
    memory && `${memory[kind].toFixed(1)} MB`;
  const [one, twenty, hundred] = [1, 20, 100].map((count) => (part: string) => find(count, part));
  const bare = one?.("http2")?.memory.anonymous ?? Number.NaN;
  const sidecar = one?.(SIDECAR)?.memory;
  const times = (sidecar?.anonymous ?? Number.NaN) / bare;
  const official = one?.("official")?.memory;
  judge(
    "anonymous memory, one driver, HTTP on",
    "1.25 times bare http2 server",
    times,
    1.25,
    ` times, ${megabytes(sidecar, "anonymous")}`,
    megabytes(official, "anonymous"),
  );
  const [ours, officials] = [twenty?.(NODE_WIDE)?.memory, twenty?.("official")?.memory];
  const ratio = (kind: keyof Memory) => (ours && officials ? ours[kind] / officials[kind] : undefined);
  for (const [kind, what, most] of [
    ["rss", "RSS", 0.25],
    ["anonymous", "anonymous memory", 0.3],
  ] as const)
    judge(
      `20 drivers in one process, ${what}`,
      `${most} times 20 officials`,
      ratio(kind),
      most,
      ` times, ${megabytes(ours, kind)}`,
      megabytes(officials, kind),
    );
  const [least, most] = [one?.(NODE_WIDE)?.memory.rss, hundred?.(NODE_WIDE)?.memory.rss];
  judge("each further driver, RSS", "0.3 MB", least && most ? (most - least) / 99 : undefined, 0.3, " MB");
  const idle = one?.(SIDECAR)?.idle;
  judge("idle, CPU ticks in 20 s", "1", idle?.ticks, 1, "");
  judge(
    "idle, context switches in 20 s",
    "the official's, or 70",
    idle?.contextSwitches,
    Math.max(one?.("official")?.idle.contextSwitches ?? 0, 70),
    "",
  );
  return verdicts;
}
