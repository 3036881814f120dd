/** The candidate that a mistyped word most likely means: a third of its letters may differ, and always one, or at most `most`. */
export function nearWord(
  word: string,
  candidates: Iterable<string>,
  most = Number.POSITIVE_INFINITY,
): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const allowed = Math.min(most, Math.max(1, Math.floor(candidate.length / 3)));
    const distance = editDistance(word, candidate);
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { candidate, distance };
  }
  return best?.candidate;
}

/** How many letters must be inserted, deleted, replaced or swapped with their neighbour: `dmeo` is 1 from `demo`. */
function editDistance(from: string, to: string): number {
  /** By row: the distances from the first `i` letters to each start of `to`. */
  const rows: number[][] = [];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 0; i <= from.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= to.length; j++) {
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const replaced = at(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swapped = isSwap ? at(i - 2, j - 2) + 1 : replaced;
      row[j] = Math.min(replaced, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1);
    }
  }
  return at(from.length, to.length);
}
