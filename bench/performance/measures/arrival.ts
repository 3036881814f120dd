import { setTimeout as delay } from "node:timers/promises";
import { startCsiDriver } from "../../../src/testing";
import { type Contestant, present } from "../contestants";
import type { Measure } from "../measure";
import { accepting, createPlace, DRIVER } from "../place";
import { start } from "../processes";
import { interleave, median, quantile, spread } from "../samples";

const BUDGET_MS = 10;
/** The driver comes this long after the registrar: moments that fall anywhere in a backoff. */
const delayMs = (round: number) => 500 + round * 237;

/** From the driver listening to the registration socket accepting, the registrar being there and waiting. */
export const arrivalMeasure: Measure = {
  name: "arrival",
  run: async ({ contestants, rounds, say }) => {
    say("driver listening to registration socket accepting");
    const { cached, official } = contestants;
    const arrivals = await interleave(present(cached, official), rounds(10), (contestant, round) =>
      arriveOnce(contestant, delayMs(round)),
    );
    return {
      tables: [
        {
          title: "driver listening to registration socket accepting, registrar waiting",
          head: ["", "ms", "longest"],
          rows: Array.from(arrivals, ([{ name }, samples]) => [
            name,
            spread(samples, 1),
            quantile(samples, 1).toFixed(1),
          ]),
        },
      ],
      verdicts: [cached].map((contestant) => {
        const ours = median(arrivals.get(contestant) ?? []);
        return {
          what: "driver listening to registration socket accepting",
          budget: `<= ${BUDGET_MS} ms`,
          measured: `${ours.toFixed(1)} ms`,
          isMet: ours <= BUDGET_MS,
          official: official && `${median(arrivals.get(official) ?? []).toFixed(0)} ms`,
        };
      }),
    };
  },
};

async function arriveOnce({ command }: Contestant, afterMs: number): Promise<number> {
  await using place = await createPlace();
  await using _registrar = start(command(place));
  await delay(afterMs);
  await using _driver = await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER });
  const listeningAt = performance.now();
  await accepting(place.socketPath);
  return performance.now() - listeningAt;
}
