import { startCsiDriver } from "../../src/testing";
import { createTempFolder } from "../../test/support/temp-folder";
import type { Bench, Row } from "../bench";
import { cpuLimit } from "../support/cgroups";
import { copyCold } from "../support/cold-copy";
import { accepting, createPlace, DRIVER } from "../support/place";
import { start } from "../support/processes";
import { median } from "../support/samples";

const LIMITS_M = [100, 50, 20];
const ROUNDS = 3;

/** A start under a CPU limit, and an exec probe under the same one: in a container, the registrar and its probe share it. */
export async function cpu(bench: Bench): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const millis of LIMITS_M)
    for (const isCold of [false, true]) {
      const runs: Awaited<ReturnType<typeof runOnce>>[] = [];
      for (let round = 0; round < ROUNDS; round++) runs.push(await runOnce(bench, millis, isCold));
      const [starts, asked] = [runs.map(({ startMs }) => startMs), runs.map(({ probeMs }) => probeMs)];
      const failed = runs.filter(({ hasFailed }) => hasFailed).length;
      rows.push([
        `CPU limit ${millis}m${isCold ? ", cold" : ""}`,
        `start ${secondsOf(starts)}, exec probe ${secondsOf(asked)}, ${failed} of ${ROUNDS} failed`,
        "",
      ]);
    }
  return rows;
}

async function runOnce({ node, cached }: Bench, millis: number, isCold: boolean) {
  await using folder = await createTempFolder();
  await using place = await createPlace();
  await using _driver = await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER });
  const [, ...words] = cached.command(place);
  // The probe has a copy of its own: the registrar keeps the pages of its own one in use.
  const programOf = (name: string) => {
    if (isCold) copyCold(node, folder.at(name));
    return isCold ? folder.at(name) : node;
  };
  const [registrar, probe] = [programOf("registrar"), programOf("probe")];
  using limit = cpuLimit(millis);
  const startedAt = performance.now();
  await using _registrar = start(limit.inside([registrar, ...words]));
  await accepting(place.socketPath);
  const startMs = performance.now() - startedAt;
  const probeAt = performance.now();
  const code = await start(limit.inside([probe, ...words, "--mode=health-probe"])).exited;
  return { startMs, probeMs: performance.now() - probeAt, hasFailed: code !== 0 };
}

/** The median, and the range. */
function secondsOf(samples: readonly number[]): string {
  const [middle, least, most] = [median(samples), Math.min(...samples), Math.max(...samples)].map((ms) =>
    (ms / 1_000).toFixed(2),
  );
  return `${middle} s (${least} to ${most})`;
}
