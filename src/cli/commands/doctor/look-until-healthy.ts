import { setTimeout as delay } from "node:timers/promises";

/** The report of the first look that finds no problem, or of the last within `waitMs`. */
export async function lookUntilHealthy<Report extends { readonly healthy: boolean }>(
  look: () => Promise<Report>,
  { everyMs, waitMs }: { readonly everyMs: number; readonly waitMs: number },
): Promise<Report> {
  const until = performance.now() + waitMs;
  for (;;) {
    const report = await look();
    const leftMs = until - performance.now();
    if (report.healthy || leftMs <= 0) return report;
    await delay(Math.min(everyMs, leftMs));
  }
}
