import { setTimeout as delay } from "node:timers/promises";
import { startCsiDriver } from "../../../src/testing";
import { type Cgroup, memoryLimit, whyNoCgroups } from "../cgroups";
import type { Contestant } from "../contestants";
import { freePort, statusOf } from "../http";
import { type Bench, type Measure, skipped, type Table, type Verdict } from "../measure";
import { accepting, createPlace, DRIVER } from "../place";
import { start } from "../processes";
import { quantile } from "../samples";

const LIMIT_MB = 32;
const RUN_MS = 30_000;
/** An answer that took longer than this waited for memory, or for the other processes of a busy machine. */
const SLOW_MS = 50;
const PROBE_EVERY_MS = 200;

interface Run {
  readonly chargedMb: number;
  readonly reclaims: number;
  readonly killed: number;
  readonly probesMs: readonly number[];
  readonly failed: number;
}

/** A container limit as aws-ebs' chart has it: does it register, and answer probes and scrapes for half a minute? */
export const memoryLimitMeasure: Measure = {
  name: "memory-limit",
  run: async (bench) => {
    const reason = whyNoCgroups();
    if (reason) return skipped(`memory limit: ${reason}`);
    const { cached } = bench.contestants;
    bench.say(`memory limit of ${LIMIT_MB}Mi, ${bench.restMs(RUN_MS) / 1_000} s`);
    const run = await runLimited(cached, bench);
    return {
      tables: [tableOf([cached], [run])],
      verdicts: [verdictOf(run)],
    };
  },
};

function verdictOf({ killed, failed, probesMs }: Run): Verdict {
  const stalled = shareOfSlow(probesMs);
  return {
    what: `memory cgroup of ${LIMIT_MB}Mi with probes and metrics`,
    budget: "no kill, stalled <= 1 % of the time",
    measured: `${killed} kills, ${failed} failed probes, ${stalled.toFixed(2)} %`,
    isMet: killed === 0 && failed === 0 && stalled <= 1,
  };
}

async function runLimited({ command }: Contestant, { restMs }: Bench): Promise<Run> {
  await using place = await createPlace();
  await using _driver = await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER });
  using limit = memoryLimit(LIMIT_MB);
  const port = await freePort();
  await using _registrar = start(limit.inside(command(place, [`--http-endpoint=127.0.0.1:${port}`])));
  await accepting(place.socketPath);
  const probesMs: number[] = [];
  let failed = 0;
  const endAt = performance.now() + restMs(RUN_MS);
  while (performance.now() < endAt) {
    const path = probesMs.length % 25 === 0 ? "/metrics" : "/healthz";
    const startedAt = performance.now();
    const status = await statusOf(`http://127.0.0.1:${port}${path}`).catch(() => 0);
    probesMs.push(performance.now() - startedAt);
    if (status !== 200) failed += 1;
    await delay(PROBE_EVERY_MS);
  }
  return { ...chargedIn(limit), probesMs, failed };
}

function chargedIn(limit: Cgroup): Pick<Run, "chargedMb" | "reclaims" | "killed"> {
  return {
    chargedMb: Number(limit.read("memory.max_usage_in_bytes")) / 2 ** 20,
    reclaims: Number(limit.read("memory.failcnt")),
    killed: Number(/^oom_kill (\d+)$/m.exec(limit.read("memory.oom_control"))?.[1] ?? 0),
  };
}

/** How much of the probes' time went into waiting, in percent of all time. */
function shareOfSlow(probesMs: readonly number[]): number {
  const waited = probesMs.reduce((sum, ms) => sum + Math.max(0, ms - SLOW_MS), 0);
  const all = probesMs.reduce((sum, ms) => sum + ms + PROBE_EVERY_MS, 0);
  return (100 * waited) / all;
}

function tableOf(contestants: readonly Contestant[], runs: readonly Run[]): Table {
  return {
    title: `under a memory limit of ${LIMIT_MB}Mi`,
    head: ["", "charged at most, MB", "reclaims", "kills", "probes", "failed", "p50 ms", "longest ms"],
    rows: runs.map(({ chargedMb, reclaims, killed, probesMs, failed }, index) => [
      contestants[index]?.name ?? "",
      chargedMb.toFixed(1),
      `${reclaims}`,
      `${killed}`,
      `${probesMs.length}`,
      `${failed}`,
      ...[0.5, 1].map((share) => quantile(probesMs, share).toFixed(1)),
    ]),
    note: "File pages that another process touched first are charged to that one: on a machine where Node runs already, as here, the figure is without most of Node itself.",
  };
}
