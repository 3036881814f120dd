import { setTimeout as delay } from "node:timers/promises";
import { startCsiDriver } from "../../src/testing";
import type { Bench, Row } from "../bench";
import { cpuLimit } from "../support/cgroups";
import { bareServer, type Contestant, present } from "../support/contestants";
import { accepting, createPlace, DRIVER, freePort } from "../support/place";
import { cpuMsOf, start as startProcess } from "../support/processes";
import { interleave, median } from "../support/samples";

/** Thousandths of a CPU, and how often; undefined is no limit. */
const SETTINGS = [
  [undefined, 16],
  [100, 4],
  [50, 4],
  [40, 3],
] as const;
const CPU_ROUNDS = 5;
const FIRST_MINUTE_MS = 60_000;

/** From the start of the process to the first connection that its socket accepts, the driver being up. */
export async function start({ node, cached, plain, official }: Bench): Promise<readonly Row[]> {
  const net = bareServer(node, "net");
  await using driverPlace = await createPlace();
  const { csiAddress } = driverPlace;
  await using _driver = await startCsiDriver({ csiAddress, name: DRIVER });
  const rows: Row[] = [];
  for (const [millis, rounds] of SETTINGS) {
    const ours = millis === undefined ? [cached, plain] : [cached];
    const starts = await interleave(present(net, ...ours, official), rounds, (contestant) =>
      startOnce(contestant, csiAddress, millis),
    );
    const ms = (one: Contestant) => median(starts.get(one) ?? []);
    for (const one of ours) {
      const limit = millis === undefined ? "" : `, CPU limit ${millis}m`;
      rows.push([
        `exec to socket accepting${limit}${one === plain ? ", without the image's code cache" : ""}`,
        `${ms(one).toFixed(0)} ms, ${(ms(one) / ms(net)).toFixed(2)} times ${net.name}`,
        official ? `${ms(official).toFixed(0)} ms` : "",
      ]);
    }
  }
  return [...rows, ...(await startCpu(present(cached, official), csiAddress))];
}

/** CPU time of a start, and of the first minute, without a limit. */
async function startCpu(contestants: readonly Contestant[], csiAddress: string): Promise<readonly Row[]> {
  const costs = await interleave(contestants, CPU_ROUNDS, async ({ command }) => {
    await using place = await createPlace(csiAddress);
    await using process = startProcess(command(place, [`--http-endpoint=127.0.0.1:${await freePort()}`]));
    await accepting(place.socketPath);
    const accepted = cpuMsOf(process.pid);
    await delay(FIRST_MINUTE_MS);
    return [accepted, cpuMsOf(process.pid)] as const;
  });
  const ms = (one: Contestant | undefined, which: 0 | 1) =>
    one === undefined ? "" : `${median((costs.get(one) ?? []).map((both) => both[which])).toFixed(0)} ms`;
  const [ours, official] = contestants;
  return [
    ["CPU to socket accepting", ms(ours, 0), ms(official, 0)],
    ["CPU of the first minute", ms(ours, 1), ms(official, 1)],
  ];
}

async function startOnce(
  { command }: Contestant,
  csiAddress: string,
  millis: number | undefined,
): Promise<number> {
  await using place = await createPlace(csiAddress);
  using limit = millis === undefined ? undefined : cpuLimit(millis);
  const line = command(place);
  const startedAt = performance.now();
  await using _process = startProcess(limit?.inside(line) ?? line);
  await accepting(place.socketPath);
  return performance.now() - startedAt;
}
