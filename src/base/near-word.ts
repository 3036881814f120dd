/** The candidate that a mistyped word most likely means: a third of its letters may differ, and always one. */
export function nearWord(word: string, candidates: Iterable<string>): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const allowed = Math.max(1, Math.floor(candidate.length / 3));
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
  const rows: number[][] = [[], [], []];
  const none = Number.POSITIVE_INFINITY;
  let least = 0;
  for (let i = 0; i <= from.length; i++) {
    /** The distances from the first `i` letters, from one fewer, and from two fewer, to each start of `to`. */
    const [row = [], last = [], before = []] = [rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3]];
    let lowest = i;
    row[0] = i;
    for (let j = 1; j <= to.length; j++) {
      const isSwap = i > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? none) + 1 : none;
      const replaced = i === 0 ? j : (last[j - 1] ?? none) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const deleted = i === 0 ? none : (last[j] ?? none) + 1;
      row[j] = Math.min(replaced, swapped, deleted, (row[j - 1] ?? none) + 1);
      lowest = Math.min(lowest, row[j] ?? none);
    }
    if (Math.min(lowest, least) > most) return none;
    least = lowest;
  }
  return rows[from.length % 3]?.[to.length] ?? none;
}
