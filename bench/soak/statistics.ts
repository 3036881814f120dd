import { median, type Samples } from "../support/samples";
import type { Holdings } from "./registrar-process";

/** What a registrar that ran all the time came to. */
export interface Life {
  readonly name: string;
  readonly drivers: number;
  readonly holdings: readonly Holdings[];
}

/**
 * The medians of an early and a late window. The first eighth is left out, in which code is still being compiled; early
 * is the quarter behind it, late the last quarter. NaN with fewer than four samples.
 */
export function driftOf(samples: Samples) {
  const part = (from: number, to: number) =>
    median(samples.slice(Math.floor(samples.length * from), Math.floor(samples.length * to)));
  return { early: part(1 / 8, 3 / 8), late: part(3 / 4, 1) };
}

/** How much more there may be late than early: a share of it, and a little that is there by chance. */
const MAY_GROW: { readonly [what in keyof Holdings]: { readonly share: number; readonly by: number } } = {
  descriptors: { share: 0, by: 1 },
  watches: { share: 0, by: 1 },
  heap: { share: 0.05, by: 0.5 },
  anonymous: { share: 0.1, by: 3 },
};

/** What a registrar holds on to ever more of. */
export function growths({ name, holdings }: Life): readonly string[] {
  return (Object.keys(MAY_GROW) as (keyof Holdings)[]).flatMap((what) => {
    const { early, late } = driftOf(holdings.map((sample) => sample[what]));
    const { share, by } = MAY_GROW[what];
    const most = early * (1 + share) + by;
    return late > most ? [`${name}: ${what} grew from ${early.toFixed(1)} to ${late.toFixed(1)}`] : [];
  });
}
