/**
 * The candidate that a mistyped word most likely means, or undefined: a third of the candidate's letters may differ, at most
 * `most`, and always one.
 */
export function nearWord(
  word: string,
  candidates: Iterable<string>,
  most = Number.POSITIVE_INFINITY,
): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate);
    const isNear = distance <= Math.max(1, Math.min(most, Math.floor(candidate.length / 3)));
    if (isNear && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { candidate, distance };
  }
  return best?.candidate;
}

/** How many letters must be inserted, deleted, replaced or swapped with their neighbour: `dmeo` is 1 from `demo`. */
function editDistance(from: string, to: string): number {
  const row = (length: number, first: number) => [first, ...Array.from({ length }, (_, index) => index + 1)];
  let last = row(to.length, 0);
  let beforeLast = last;
  for (let i = 1; i <= from.length; i++) {
    const current = row(to.length, i);
    for (let j = 1; j <= to.length; j++) {
      const replaced = at(last, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY;
      current[j] = Math.min(replaced, swapped, at(last, j) + 1, at(current, j - 1) + 1);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
