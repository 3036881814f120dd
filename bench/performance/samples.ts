/** Figures of one thing, measured several times. */
export type Samples = readonly number[];

/** The value below which `share` of the samples lie: 0.5 is the median. NaN where there is none. */
export function quantile(samples: Samples, share: number): number {
  const sorted = samples.toSorted((one, other) => one - other);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position % 1);
}

export function median(samples: Samples): number {
  return quantile(samples, 0.5);
}

/** `12.3 (11.0 to 14.1)`: the median, and between what the middle half lies. Nothing for no samples. */
export function spread(samples: Samples, digits = 0): string {
  if (samples.length === 0) return "";
  const [middle, low, high] = [0.5, 0.25, 0.75].map((share) => quantile(samples, share).toFixed(digits));
  return low === high ? `${middle}` : `${middle} (${low} to ${high})`;
}

/**
 * Measures each contestant once a round, in another order each time: what else the machine does, and how warm its
 * caches are, meets all of them alike.
 */
export async function interleave<Contestant, Sample>(
  contestants: readonly Contestant[],
  rounds: number,
  measure: (contestant: Contestant, round: number) => Promise<Sample>,
): Promise<ReadonlyMap<Contestant, readonly Sample[]>> {
  const samples = new Map<Contestant, Sample[]>(contestants.map((contestant) => [contestant, []]));
  for (let round = 0; round < rounds; round++)
    for (const contestant of contestants.toSorted(() => Math.random() - 0.5))
      samples.get(contestant)?.push(await measure(contestant, round));
  return samples;
}
