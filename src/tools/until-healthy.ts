import { setTimeout as delay } from "node:timers/promises";

export interface Looked {
  readonly healthy: boolean;
  readonly summary?: { readonly problem: number };
  readonly nodes?: readonly { readonly state: string }[];
}

/**
 * The report of the first look that finds no problem, with no registrar that only starts, or of the last within `waitMs`.
 * `isHopeless`: what the last look could not read, no other will.
 */
export async function lookUntilHealthy<Report extends Looked>(
  look: () => Promise<Report>,
  waitMs = 0,
  everyMs = 1_000,
  isHopeless = () => false,
): Promise<Report> {
  const until = performance.now() + waitMs;
  for (;;) {
    const report = await look();
    const leftMs = until - performance.now();
    const isStarting = report.nodes?.some(({ state }) => state === "starting");
    const isDone = report.healthy || (isHopeless() && report.summary?.problem === 0);
    if ((isDone && !isStarting) || leftMs <= 0) return report;
    await delay(Math.min(everyMs, leftMs));
  }
}
