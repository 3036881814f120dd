import { setTimeout as delay } from "node:timers/promises";
import { allRegistered } from "../../test/kubelet/support/crowd";
import { startKubelet } from "../../test/kubelet/support/kubelet";
import { askHttp } from "../../test/support/http";
import type { Bench, Row } from "../bench";
import { createKeeper } from "../keeper";
import { bareServer, type Contestant } from "../support/contestants";
import { startCrowd } from "../support/crowd";
import { freePort } from "../support/place";
import { anonymousMb, cpuMsOf, start, wakeUpsOf } from "../support/processes";

/** Garbage is collected 10 s after the last registration, and V8 then looks twice more, within 20 s, of its own accord. */
const REST_MS = 40_000;
const WATCH_MS = 60_000;
const COUNTS = [1, 20, 100, 200];
/** As kubelet asks by default, and Prometheus as most configure it. */
const ASKED = { "/healthz": 10_000, "/metrics": 30_000 };

/** Memory, CPU and wake-ups of registrars whose drivers are registered, HTTP on: when nothing happens, and when they are asked. */
export async function resting(bench: Bench): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const count of COUNTS) {
    const { ours, bare, official } = await restWith(count, bench);
    const drivers = count === 1 ? "one driver" : `${count} drivers`;
    const times = (ours.rest.anonymousMb / bare.anonymousMb).toFixed(2);
    const each = count === 1 ? "" : ` in ${count} processes`;
    const row = (what: string, text: (rest: Rest) => string, remark = "") =>
      rows.push([
        `${drivers}, ${what}`,
        `${text(ours.rest)}${remark}`,
        official ? text(official.rest) + each : "",
      ]);
    row("at rest, anonymous memory", megabytes, `, ${times} times bare http2 server`);
    row("at rest, wake-ups a second", ({ wakeUps }) => wakeUps.toFixed(2));
    row("at rest, CPU seconds an hour", cpuAnHour);
    if (count > 1) continue;
    const asked = "asked for /healthz every 10 s and /metrics every 30 s";
    const askedRow = (what: string, text: (rest: Rest) => string) =>
      rows.push([`${asked}, ${what}`, text(ours.asked), official ? text(official.asked) : ""]);
    askedRow("anonymous memory", megabytes);
    askedRow("CPU seconds an hour", cpuAnHour);
  }
  return rows;
}

interface Rest {
  readonly anonymousMb: number;
  /** In WATCH_MS. */
  readonly cpuMs: number;
  /** A second. */
  readonly wakeUps: number;
}

const megabytes = (rest: Rest) => `${rest.anonymousMb.toFixed(1)} MB`;
const cpuAnHour = ({ cpuMs }: Rest) => `${((cpuMs / WATCH_MS) * 3_600).toFixed(2)} s`;

/** One process of ours for so many drivers, an official one for each, and a bare server. */
async function restWith(count: number, { node, cached, official, kubelet: version }: Bench) {
  await using keeper = createKeeper();
  const { keep } = keeper;
  const crowd = keep(await startCrowd(count));
  const ports: number[] = [];
  const http = async () => `--http-endpoint=127.0.0.1:${ports[ports.push(await freePort()) - 1]}`;
  const register = async (
    name: string,
    lines: (pluginDir: string) => Promise<readonly (readonly string[])[]>,
  ) => {
    const pluginDir = crowd.pluginDir(name);
    const kubelet = keep(await startKubelet({ version, pluginDir }));
    const pids = (await lines(pluginDir)).map((line) => keep(start(line)).pid);
    await allRegistered(kubelet, crowd.names);
    return pids;
  };
  const ours = await register("ours", async (pluginDir) => {
    const place = count === 1 ? crowd.single(0, pluginDir) : crowd.everybody(pluginDir);
    return [cached.command(place, [await http()])];
  });
  const each =
    ({ command }: Contestant) =>
    (pluginDir: string) =>
      Promise.all(
        crowd.names.map(async (_, number) => command(crowd.single(number, pluginDir), [await http()])),
      );
  const officials = official && (await register("official", each(official)));
  const bareLine = bareServer(node, "http2").command(crowd.single(0, crowd.pluginDir("bare")));
  const bare = [keep(start(bareLine)).pid];
  const teams = [ours, bare, officials ?? []];
  await delay(REST_MS);
  const rests = await watch(teams);
  const asked = count === 1 ? await whileAsked(ports, () => watch(teams)) : rests;
  const both = (index: number) => ({ rest: rests[index] as Rest, asked: asked[index] as Rest });
  return { ours: both(0), bare: both(1).rest, official: officials && both(2) };
}

/** What each team costs in WATCH_MS. */
async function watch(teams: readonly (readonly number[])[]): Promise<readonly Rest[]> {
  const countAll = () => teams.map((pids) => [sum(pids.map(cpuMsOf)), sum(pids.map(wakeUpsOf))] as const);
  const before = countAll();
  await delay(WATCH_MS);
  return countAll().map(([cpuMs, wakeUps], index) => ({
    anonymousMb: sum((teams[index] ?? []).map(anonymousMb)),
    cpuMs: cpuMs - (before[index]?.[0] ?? 0),
    wakeUps: (wakeUps - (before[index]?.[1] ?? 0)) / (WATCH_MS / 1_000),
  }));
}

async function whileAsked<Result>(ports: readonly number[], run: () => Promise<Result>): Promise<Result> {
  const timers = Object.entries(ASKED).map(([path, everyMs]) =>
    setInterval(() => {
      for (const port of ports) askHttp(port, path).catch(() => {}); // A failure costs its time, too.
    }, everyMs),
  );
  try {
    await delay(2 * ASKED["/metrics"]); // Until everything that is loaded late is loaded.
    return await run();
  } finally {
    for (const timer of timers) clearInterval(timer);
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
