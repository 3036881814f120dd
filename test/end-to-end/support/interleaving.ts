import { createRandom } from "../../support/random";

/** What a script does to one of several registrars of the same driver, `waitMs` after the step before. */
export interface Step {
  readonly action: "start" | "SIGTERM" | "SIGKILL";
  /** Which of the registrars; started anew, it is another process in the same place. */
  readonly slot: number;
  readonly waitMs: number;
}

export interface Script {
  readonly slots: number;
  readonly steps: readonly Step[];
}

/** From nothing in between to longer than any step takes. */
const WAITS_MS = [0, 10, 50, 110, 200, 350, 600, 1_000, 1_500];

/** Two to four registrars that come and go at random: the same script for the same seed. */
export function createScript(seed: number): Script {
  const random = createRandom(seed);
  const pick = <One>(choices: readonly [One, ...One[]]): One =>
    choices[Math.floor(random() * choices.length)] ?? choices[0];
  const slots = pick([2, 3, 4]);
  const running = new Set<number>();
  const steps = Array.from({ length: 12 }, (): Step => {
    const slot = Math.floor(random() * slots);
    const waitMs = WAITS_MS[Math.floor(random() * WAITS_MS.length)] ?? 0;
    if (!running.delete(slot)) {
      running.add(slot);
      return { action: "start", slot, waitMs };
    }
    return { action: pick(["SIGTERM", "SIGKILL"]), slot, waitMs };
  });
  return { slots, steps };
}
