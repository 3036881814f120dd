import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { longestReadAheadKb } from "../../../src/cli/memory-limit";
import { startCsiDriver } from "../../../src/testing";
import { type Cgroup, memoryLimit, whyNoCgroups } from "../cgroups";
import type { Contestant } from "../contestants";
import { freePort, statusOf } from "../http";
import { type Bench, type Measure, skipped, type Table, type Verdict } from "../measure";
import { accepting, createPlace, DRIVER } from "../place";
import { start } from "../processes";
import { quantile } from "../samples";

/** Warm, as some charts have it; cold, as our manifests. */
const LIMITS_MB = { warm: 32, cold: 64 } as const;
const COLD_WITHIN_MS = 10_000;
const RUN_MS = 30_000;
/** An answer that took longer than this waited for memory, or for the other processes of a busy machine. */
const SLOW_MS = 50;
const PROBE_EVERY_MS = 200;

/** Node's pages in memory and charged to somebody else, or, as after a reboot, on the disk. */
type Pages = keyof typeof LIMITS_MB;

interface Run {
  readonly pages: Pages;
  readonly publishedMs: number;
  readonly chargedMb: number;
  readonly reclaims: number;
  readonly killed: number;
  readonly probesMs: readonly number[];
  readonly failed: number;
}

/** A container's limit: does it register, and answer probes and scrapes for half a minute? */
export const memoryLimitMeasure: Measure = {
  name: "memory-limit",
  run: async (bench) => {
    const reason = whyNoCgroups();
    if (reason) return skipped(`memory limit: ${reason}`);
    const { cached } = bench.contestants;
    const runs: Run[] = [];
    for (const pages of ["warm", "cold"] as const) {
      bench.say(`memory limit of ${LIMITS_MB[pages]}Mi, ${pages}, ${bench.restMs(RUN_MS) / 1_000} s`);
      runs.push(await runLimited(cached, pages, bench));
    }
    return {
      tables: [tableOf(runs)],
      verdicts: runs.map(verdictOf),
    };
  },
};

function verdictOf({ pages, publishedMs, killed, failed, probesMs }: Run): Verdict {
  const stalled = shareOfSlow(probesMs);
  const isStarted = pages === "warm" || publishedMs <= COLD_WITHIN_MS;
  return {
    what: `memory cgroup of ${LIMITS_MB[pages]}Mi with probes and metrics, ${pages}`,
    budget: `no kill, stalled <= 1 % of the time${pages === "cold" ? `, published within ${COLD_WITHIN_MS / 1_000} s` : ""}`,
    measured: `${killed} kills, ${failed} failed probes, ${stalled.toFixed(2)} %${pages === "cold" ? `, ${(publishedMs / 1_000).toFixed(2)} s` : ""}`,
    isMet: killed === 0 && failed === 0 && stalled <= 1 && isStarted,
  };
}

async function runLimited({ command }: Contestant, pages: Pages, { node, restMs }: Bench): Promise<Run> {
  await using place = await createPlace();
  await using _driver = await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER });
  using limit = memoryLimit(LIMITS_MB[pages]);
  const port = await freePort();
  const line = command(place, [`--http-endpoint=127.0.0.1:${port}`]);
  const program = pages === "cold" ? coldCopy(node, place.at("node")) : node;
  const startedAt = performance.now();
  await using _registrar = start(limit.inside([program, ...line.slice(1)]));
  await accepting(place.socketPath);
  const publishedMs = performance.now() - startedAt;
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
  return { pages, publishedMs, ...chargedIn(limit), probesMs, failed };
}

/** A copy of a file of which no page is in memory, if it comes to a disk; its libraries are in memory. */
function coldCopy(file: string, copy: string): string {
  copyFileSync(file, copy);
  execFileSync("dd", [`of=${copy}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0"], {
    stdio: "ignore",
  });
  return copy;
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

function tableOf(runs: readonly Run[]): Table {
  return {
    title: "under a memory limit",
    head: [
      "",
      "published, s",
      "charged at most, MB",
      "reclaims",
      "kills",
      "probes",
      "failed",
      "p50 ms",
      "longest ms",
    ],
    rows: runs.map(({ pages, publishedMs, chargedMb, reclaims, killed, probesMs, failed }) => [
      `${LIMITS_MB[pages]}Mi, ${pages}`,
      (publishedMs / 1_000).toFixed(2),
      chargedMb.toFixed(1),
      `${reclaims}`,
      `${killed}`,
      `${probesMs.length}`,
      `${failed}`,
      ...[0.5, 1].map((share) => quantile(probesMs, share).toFixed(1)),
    ]),
    note: `Warm: file pages are charged to whoever touched them first; Node runs here already, so the figure is without most of Node itself. Cold: a copy of Node whose pages are on the disk, as for the first registrar after a reboot. This machine's disks read ${longestReadAheadKb("/sys/block")} kB ahead.`,
  };
}
