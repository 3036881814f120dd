import { startCsiDriver } from "../../src/testing";
import type { Bench, Row } from "../bench";
import { cpuLimit } from "../support/cgroups";
import { bareServer, type Contestant, present } from "../support/contestants";
import { accepting, createPlace, DRIVER } from "../support/place";
import { start as startProcess } from "../support/processes";
import { interleave, median } from "../support/samples";

/** Thousandths of a CPU, and how often; undefined is no limit. */
const SETTINGS = [
  [undefined, 16],
  [100, 4],
  [40, 3],
] as const;

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
  return rows;
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
