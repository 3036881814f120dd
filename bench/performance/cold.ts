import { startCsiDriver } from "../../src/testing";
import { createTempFolder } from "../../test/support/temp-folder";
import type { Bench, Row } from "../bench";
import { memoryLimit } from "../support/cgroups";
import { copyCold } from "../support/cold-copy";
import type { Contestant } from "../support/contestants";
import { accepting, createPlace, DRIVER, freePort } from "../support/place";
import { start } from "../support/processes";

const LIMITS_MB = [32, 48, 56, 64, 100];
const PATIENCE_MS = 30_000;

/** A start under a memory limit when the program's pages are not in the page cache, as after a reboot. */
export async function cold({ cached, official }: Bench): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const limitMb of LIMITS_MB) {
    const of = (one: Contestant | undefined) => (one === undefined ? "" : coldStart(one, limitMb));
    rows.push([`cold start under ${limitMb}Mi`, await of(cached), await of(official)]);
  }
  return rows;
}

async function coldStart({ program: [file = ""], command }: Contestant, limitMb: number): Promise<string> {
  await using folder = await createTempFolder();
  await using place = await createPlace();
  await using _driver = await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER });
  const copy = folder.at("program");
  // Its pages are read again, and charged to the group.
  copyCold(file, copy);
  const [, ...words] = command(place, [`--http-endpoint=127.0.0.1:${await freePort()}`]);
  using limit = memoryLimit(limitMb);
  const startedAt = performance.now();
  await using _registrar = start(limit.inside([copy, ...words]));
  const isReady = await accepting(place.socketPath, PATIENCE_MS).then(
    () => true,
    () => false,
  );
  return isReady
    ? `${((performance.now() - startedAt) / 1_000).toFixed(2)} s`
    : `not in ${PATIENCE_MS / 1_000} s`;
}
