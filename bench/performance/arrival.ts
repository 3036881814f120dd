import { setTimeout as delay } from "node:timers/promises";
import { startCsiDriver } from "../../src/testing";
import type { Bench, Row } from "../bench";
import { type Contestant, present } from "../support/contestants";
import { accepting, createPlace, DRIVER } from "../support/place";
import { start } from "../support/processes";
import { interleave, median } from "../support/samples";

/** The driver comes this long after the registrar: moments that fall anywhere in a backoff. */
const delayMs = (round: number) => 500 + round * 237;

/** From the driver listening to the registration socket accepting, the registrar being there and waiting. */
export async function arrival({ cached, official }: Bench): Promise<readonly Row[]> {
  const arrivals = await interleave(present(cached, official), 10, (contestant, round) =>
    arriveOnce(contestant, delayMs(round)),
  );
  const ms = (one: Contestant | undefined) => one && `${median(arrivals.get(one) ?? []).toFixed(1)} ms`;
  return [["driver listening to registration socket accepting", ms(cached) ?? "", ms(official) ?? ""]];
}

async function arriveOnce({ command }: Contestant, afterMs: number): Promise<number> {
  await using place = await createPlace();
  await using _registrar = start(command(place));
  await delay(afterMs);
  await using _driver = await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER });
  const listeningAt = performance.now();
  await accepting(place.socketPath);
  return performance.now() - listeningAt;
}
