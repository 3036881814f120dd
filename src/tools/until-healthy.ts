import { setTimeout as delay } from "node:timers/promises";

export interface Looked {
  readonly healthy: boolean;
  readonly nodes?: readonly { readonly state: string }[];
}

/** The report of the first look that finds no problem, with no registrar that only starts, or of the last within `waitMs`. */
export async function lookUntilHealthy<Report extends Looked>(
  look: () => Promise<Report>,
  waitMs = 0,
  everyMs = 1_000,
): Promise<Report> {
  const until = performance.now() + waitMs;
  for (;;) {
    const report = await look();
    const leftMs = until - performance.now();
    const isStarting = report.nodes?.some(({ state }) => state === "starting");
    if ((report.healthy && !isStarting) || leftMs <= 0) return report;
    await delay(Math.min(everyMs, leftMs));
  }
}
