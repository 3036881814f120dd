import { setTimeout as delay } from "node:timers/promises";
import { startCsiDriver } from "../../src/testing";
import type { Bench, Row } from "../bench";
import { createKeeper } from "../keeper";
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
const BETWEEN_STARTS_MS = 3_000;

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

/** CPU time of a start, which has the machine to itself, and of the first minute, beside the minutes of others. */
async function startCpu(contestants: readonly Contestant[], csiAddress: string): Promise<readonly Row[]> {
  await using keeper = createKeeper();
  const costs = await interleave(contestants, CPU_ROUNDS, async ({ command }) => {
    const place = keeper.keep(await createPlace(csiAddress));
    const line = command(place, [`--http-endpoint=127.0.0.1:${await freePort()}`]);
    const { pid } = keeper.keep(startProcess(line));
    const minute = delay(FIRST_MINUTE_MS).then(() => cpuMsOf(pid));
    await accepting(place.socketPath);
    const accepted = cpuMsOf(pid);
    await delay(BETWEEN_STARTS_MS);
    return { accepted, minute };
  });
  const ms = (figures: readonly number[]) => `${median(figures).toFixed(0)} ms`;
  const of = (one: Contestant) => costs.get(one) ?? [];
  const accepted = contestants.map((one) => ms(of(one).map((cost) => cost.accepted)));
  const minutes = await Promise.all(
    contestants.map(async (one) => ms(await Promise.all(of(one).map(({ minute }) => minute)))),
  );
  return [
    ["CPU to socket accepting", accepted[0] ?? "", accepted[1] ?? ""],
    ["CPU of the first minute", minutes[0] ?? "", minutes[1] ?? ""],
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
