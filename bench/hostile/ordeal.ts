import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { callUnary, createUnixClient } from "../../src/grpc/client/unary";
import { protos } from "../../src/grpc/protos";
import { startCsiDriver, startKubelet } from "../../src/testing";
import { createTempFolder } from "../../test/support/temp-folder";
import { memoryLimit } from "../support/cgroups";
import { copyCold } from "../support/cold-copy";
import type { Contestant } from "../support/contestants";
import { createPlace, DRIVER, freePort } from "../support/place";
import { start } from "../support/processes";
import { sendVisitors, type Visit } from "./visitors";

const REGISTERED_WITHIN_MS = 60_000;
/** By then the garbage of the start has been collected. */
const AT_REST_AFTER_MS = 14_000;
/** So long the last of them stay, and so long after them the memory must be given back. */
const STAY_MS = 3_000;
const GIVEN_BACK_AFTER_MS = 10_000;

/** What hostile clients did to a registrar; MB (2^20). */
export interface Ordeal {
  readonly restMb: number;
  /** The most resident memory over that at rest. */
  readonly peakMb: number;
  /** Ten seconds after the last client. */
  readonly afterMb: number;
  /** It lives, kubelet has not deregistered the driver, and a call is answered. */
  readonly isRegistered: boolean;
  /** Probes and scrapes that were not answered within the second that kubelet waits. */
  readonly failedProbes: number;
}

/**
 * Sends visitors to a registrar with HTTP endpoint, metrics and a kubelet. With a limit it runs in a memory cgroup, and its program
 * is not in the page cache when it starts.
 */
export async function undergo(contestant: Contestant, visit: Visit, limitMb?: number): Promise<Ordeal> {
  await using folder = await createTempFolder();
  await using place = await createPlace();
  await using _driver = await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER });
  await using kubelet = await startKubelet({ pluginRegistrationPath: place.pluginDir });
  using limit = limitMb === undefined ? undefined : memoryLimit(limitMb);
  const port = await freePort();
  const command = contestant.command(place, [`--http-endpoint=127.0.0.1:${port}`]);
  const [program = "", ...words] = command;
  const copy = folder.at("program");
  if (limit) copyCold(program, copy);
  await using registrar = start(limit ? limit.inside([copy, ...words]) : command);
  let isAlive = true;
  void registrar.exited.then(() => {
    isAlive = false;
  });
  await kubelet.events.when("registered", { timeoutMs: REGISTERED_WITHIN_MS });
  const probes = keepProbing(port);
  await delay(AT_REST_AFTER_MS);

  const restMb = statusMb(registrar.pid, "VmRSS");
  writeFileSync(`/proc/${registrar.pid}/clear_refs`, "5"); // Forgets the peak so far: proc(5).
  const address = visit.door === "HTTP endpoint" ? { port, host: "127.0.0.1" } : { path: place.socketPath };
  const stayed = await sendVisitors(visit, address);
  await delay(STAY_MS);
  const peakMb = isAlive ? statusMb(registrar.pid, "VmHWM") - restMb : Number.NaN;
  for (const socket of stayed) socket.destroy();
  await delay(GIVEN_BACK_AFTER_MS);
  const afterMb = isAlive ? statusMb(registrar.pid, "VmRSS") - restMb : Number.NaN;
  const isAnswered = isAlive && (await answers(place.socketPath));
  const wasDeregistered = kubelet.events.history().some(({ kind }) => kind === "deregistered");
  return {
    restMb,
    peakMb,
    afterMb,
    isRegistered: isAnswered && !wasDeregistered,
    failedProbes: await probes.stop(),
  };
}

/** MB (2^20) of resident memory, now or at most: proc(5). */
function statusMb(pid: number, field: "VmRSS" | "VmHWM"): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1]) / 1024;
}

async function answers(socketPath: string): Promise<boolean> {
  const client = createUnixClient(socketPath);
  const call = callUnary(client, protos.registration.GetInfo, {}, { timeoutMs: 10_000 });
  const isAnswered = await call.then(
    () => true,
    () => false,
  );
  client.close();
  return isAnswered;
}

/** As kubelet's probes and a scraper do it. */
function keepProbing(port: number) {
  const prober = new Worker(join(__dirname, "prober.ts"), { workerData: port });
  return {
    stop: async (): Promise<number> => {
      prober.postMessage("stop");
      const [failed] = await once(prober, "message");
      return failed;
    },
  };
}
