import { setTimeout as delay } from "node:timers/promises";
import { allRegistered } from "../../test/kubelet/support/crowd";
import { startKubelet } from "../../test/kubelet/support/kubelet";
import type { Bench, Row } from "../bench";
import { createKeeper } from "../keeper";
import { bareServer, type Contestant } from "../support/contestants";
import { startCrowd } from "../support/crowd";
import { anonymousMb, cpuMsOf, start } from "../support/processes";

/** Garbage is collected 10 s after the last registration, and V8 then looks twice more, within 20 s, of its own accord. */
const REST_MS = 40_000;
const IDLE_MS = 20_000;
const HTTP = ["--http-endpoint=127.0.0.1:0"];

/** Anonymous memory and wake-ups of registrars whose drivers are registered, HTTP on, when nothing happens. */
export async function resting(bench: Bench): Promise<readonly Row[]> {
  const [one, twenty] = [await restWith(1, bench), await restWith(20, bench)];
  const mb = (of: Rest | undefined) => (of === undefined ? "" : `${of.anonymousMb.toFixed(1)} MB`);
  const times = (one.ours.anonymousMb / one.bare.anonymousMb).toFixed(2);
  return [
    [
      "anonymous memory, one driver, HTTP on",
      `${mb(one.ours)}, ${times} times bare http2 server`,
      mb(one.official),
    ],
    [
      "20 drivers in one process, anonymous memory",
      mb(twenty.ours),
      `${mb(twenty.official)} in 20 processes`,
    ],
    ["idle, CPU ms in 20 s", one.ours.cpuMs.toFixed(0), one.official?.cpuMs.toFixed(0) ?? ""],
  ];
}

interface Rest {
  readonly anonymousMb: number;
  /** In IDLE_MS. */
  readonly cpuMs: number;
}

/** One process of ours for so many drivers, an official one for each, and a bare server. */
async function restWith(count: number, { node, cached, official, kubelet: version }: Bench) {
  await using keeper = createKeeper();
  const { keep } = keeper;
  const crowd = keep(await startCrowd(count));
  const register = async (name: string, lines: (pluginDir: string) => readonly (readonly string[])[]) => {
    const pluginDir = crowd.pluginDir(name);
    const kubelet = keep(await startKubelet({ version, pluginDir }));
    const pids = lines(pluginDir).map((line) => keep(start(line)).pid);
    await allRegistered(kubelet, crowd.names);
    return pids;
  };
  const ours = await register("ours", (pluginDir) => [cached.command(crowd.everybody(pluginDir), HTTP)]);
  const each =
    ({ command }: Contestant) =>
    (pluginDir: string) =>
      crowd.names.map((_, number) => command(crowd.single(number, pluginDir), HTTP));
  const officials = official && (await register("official", each(official)));
  const bareLine = bareServer(node, "http2").command(crowd.single(0, crowd.pluginDir("bare")));
  const bare = [keep(start(bareLine)).pid];
  await delay(REST_MS);
  const teams = [ours, bare, officials ?? []];
  const before = teams.map(cpuMsOfAll);
  await delay(IDLE_MS);
  const rests = teams.map((pids, index) => ({
    anonymousMb: sum(pids.map(anonymousMb)),
    cpuMs: cpuMsOfAll(pids) - (before[index] ?? 0),
  })) as [Rest, Rest, Rest];
  return { ours: rests[0], bare: rests[1], official: official && rests[2] };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
const cpuMsOfAll = (pids: readonly number[]) => sum(pids.map(cpuMsOf));
