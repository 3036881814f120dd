/** Figures of one thing, measured several times. */
export type Samples = readonly number[];

/** NaN for no samples. */
export function median(samples: Samples): number {
  const sorted = samples.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** Measures each contestant once a round, in another order each time, so that other load affects all of them alike. */
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
