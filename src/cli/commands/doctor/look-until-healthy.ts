import { pause } from "../../../pause";

/** The report of the first look that finds no problem, or of the last within `waitMs`. An abort ends the pauses. */
export async function lookUntilHealthy<Report extends { readonly healthy: boolean }>(
  look: () => Promise<Report>,
  {
    everyMs,
    waitMs,
    signal = new AbortController().signal,
  }: { readonly everyMs: number; readonly waitMs: number; readonly signal?: AbortSignal },
): Promise<Report> {
  const until = performance.now() + waitMs;
  for (;;) {
    const report = await look();
    const leftMs = until - performance.now();
    if (report.healthy || leftMs <= 0) return report;
    await pause(Math.min(everyMs, leftMs), signal);
  }
}
