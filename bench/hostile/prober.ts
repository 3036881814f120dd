import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { statusOf } from "../performance/http";

const PROBE_EVERY_MS = 500;
/** Kubelet's default. */
const TIMEOUT_MS = 1_000;

/** How many probes and scrapes were not answered, and how many later than kubelet waits. */
export interface Missed {
  readonly failed: number;
  readonly late: number;
}

/** Probes and scrapes a port from a thread of its own, as the clients keep the other one busy; a message ends it. */
async function keepProbing(port: number): Promise<void> {
  let isOver = false;
  let failed = 0;
  let late = 0;
  parentPort?.once("message", () => {
    isOver = true;
  });
  for (let count = 0; !isOver; count++) {
    const path = count % 5 === 0 ? "/metrics" : "/healthz";
    const startedAt = performance.now();
    const status = await statusOf(`http://127.0.0.1:${port}${path}`).catch(() => 0);
    // The official one has no metrics on it by default, and says so with 404.
    if (status !== 200 && status !== 404) failed += 1;
    else if (performance.now() - startedAt > TIMEOUT_MS) late += 1;
    await delay(PROBE_EVERY_MS);
  }
  parentPort?.postMessage({ failed, late } satisfies Missed);
}

void keepProbing(Number(workerData));
