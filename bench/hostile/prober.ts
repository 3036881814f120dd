import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { askHttp } from "../../test/support/http";

const PROBE_EVERY_MS = 500;
/** Kubelet's default. */
const TIMEOUT_MS = 1_000;

/** Probes and scrapes a port from a thread of its own, because the clients keep the other one busy; a message ends it. */
async function keepProbing(port: number): Promise<void> {
  let isOver = false;
  let failed = 0;
  parentPort?.once("message", () => {
    isOver = true;
  });
  for (let count = 0; !isOver; count++) {
    const answer = askHttp(port, count % 5 === 0 ? "/metrics" : "/healthz").then(
      (one) => one.status,
      () => 0,
    );
    // A registrar that is out of memory may take a probe and never answer it.
    const status = await Promise.race([answer, delay(TIMEOUT_MS, 0)]);
    // The official one serves no metrics there by default, and answers 404.
    if (status !== 200 && status !== 404) failed += 1;
    await delay(PROBE_EVERY_MS);
  }
  parentPort?.postMessage(failed);
}

void keepProbing(Number(workerData));
