/** The candidate that a mistyped word most likely means: a third of its letters may differ, at most `most`, and always one. */
export function nearWord(
  word: string,
  candidates: Iterable<string>,
  most = Number.POSITIVE_INFINITY,
): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const allowed = Math.max(1, Math.min(most, Math.floor(candidate.length / 3)));
    if (Math.abs(candidate.length - word.length) > allowed) continue;
    const distance = editDistance(word, candidate, allowed);
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { candidate, distance };
  }
  return best?.candidate;
}

/**
 * How many letters must be inserted, deleted, replaced or swapped with their neighbour: `dmeo` is 1 from `demo`. Infinite above
 * `most`: a distance follows from the two rows before it, and never gets smaller than both.
 */
function editDistance(from: string, to: string, most: number): number {
  /** Of the first letters of each: `distances[i][j]` from `i` letters to `j`. */
  const distances: number[][] = [];
  const at = (i: number, j: number) => distances[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 0; i <= from.length; i++) {
    const row: number[] = [i];
    distances.push(row);
    for (let j = 1; j <= to.length; j++) {
      const replaced = i === 0 ? j : at(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row[j] = Math.min(replaced, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1);
    }
    if (distances.slice(-2).every((one) => Math.min(...one) > most)) return Number.POSITIVE_INFINITY;
  }
  return at(from.length, to.length);
}
