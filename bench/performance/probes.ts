import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { startCsiDriver } from "../../src/testing";
import { askHttp } from "../../test/support/http";
import type { Bench, Row } from "../bench";
import { cpuLimit } from "../support/cgroups";
import { type Contestant, present } from "../support/contestants";
import { startCrowd } from "../support/crowd";
import { accepting, createPlace, DRIVER, freePort, type Place } from "../support/place";
import { cpuMsOf, start, timeOf } from "../support/processes";
import { interleave, median } from "../support/samples";

const REQUESTS = 10;
const RESTED_REQUESTS = 3;
/** A check holds for a second, and kubelet asks every 10 s. */
const APART_MS = 3_000;
/** The connections of a check end after its answer. */
const SETTLED_MS = 100;
/** What a request finds after such a rest, memory has been given back. */
const LONG_REST_MS = 20_000;
const CROWDS = [20, 200];

/** What probes cost: an exec probe a process each, an HTTP probe some CPU time of the one that runs. */
export async function probes(bench: Bench): Promise<readonly Row[]> {
  await using place = await createPlace();
  await using _driver = await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER });
  await using _registrar = start(bench.cached.command(place));
  await accepting(place.socketPath);
  const bare = [bench.node, "-e", "0"];
  const probe = (one: Contestant, mode: string) => one.command(place, [`--mode=${mode}`]);
  const ours = probe(bench.cached, "health-probe");
  const official = bench.official && probe(bench.official, "kubelet-registration-probe");
  const rows: Row[] = [];
  for (const millis of [undefined, 100, 40]) {
    const programs = official ? [bare, ours, official] : [bare, ours];
    const times = await interleave(programs, millis === undefined ? 16 : 4, async (program) => {
      using limit = millis === undefined ? undefined : cpuLimit(millis);
      return await timeOf(limit?.inside(program) ?? program);
    });
    const ms = (program: readonly string[]) => median(times.get(program as string[]) ?? []);
    rows.push([
      `exec probe${millis === undefined ? "" : `, CPU limit ${millis}m`}`,
      `${ms(ours).toFixed(0)} ms, ${(ms(ours) / ms(bare)).toFixed(2)} times node -e 0`,
      official ? `${ms(official).toFixed(0)} ms` : "",
    ]);
  }
  // Beside each other: they wait nearly all the time, and CPU time is counted by process.
  const http = await Promise.all([httpProbe(bench), ...CROWDS.map((count) => crowdedProbe(bench, count))]);
  return [...rows, ...http];
}

/** CPU time of the registrar for one `/healthz`. */
async function httpProbe({ cached, official }: Bench): Promise<Row> {
  const costs = await Promise.all(
    present(cached, official).map(async (contestant) => {
      await using place = await createPlace();
      await using _driver = await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER });
      return await costOf(contestant, place, () => accepting(place.socketPath));
    }),
  );
  return ["HTTP probe, /healthz", costs[0] ?? "", costs[1] ?? ""];
}

/** The same for many drivers in one process. */
async function crowdedProbe({ cached }: Bench, count: number): Promise<Row> {
  await using crowd = await startCrowd(count);
  const pluginDir = crowd.pluginDir("reg");
  const isPublished = async () => {
    while (readdirSync(pluginDir).length < count) await delay(50);
  };
  const cost = await costOf(cached, crowd.everybody(pluginDir), isPublished);
  return [`HTTP probe, /healthz, ${count} drivers`, cost, ""];
}

async function costOf(contestant: Contestant, place: Place, isServing: () => Promise<unknown>) {
  const port = await freePort();
  await using registrar = start(contestant.command(place, [`--http-endpoint=127.0.0.1:${port}`]));
  await isServing();
  const ask = async (restMs: number) => {
    await delay(restMs);
    const before = cpuMsOf(registrar.pid);
    await askHttp(port, "/healthz");
    await delay(SETTLED_MS);
    return cpuMsOf(registrar.pid) - before;
  };
  const costsOf = async (requests: number, restMs: number) => {
    const costs: number[] = [];
    for (let request = 0; request < requests; request++) costs.push(await ask(restMs));
    return median(costs).toFixed(1);
  };
  const rested = await costsOf(RESTED_REQUESTS, LONG_REST_MS);
  return `${await costsOf(REQUESTS, APART_MS)} ms of CPU, ${rested} after a rest`;
}
