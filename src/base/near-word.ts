/** The candidate that a mistyped word most likely means: a third of its letters may differ, and always one. */
export function nearWord(word: string, candidates: Iterable<string>): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const allowed = Math.max(1, Math.floor(candidate.length / 3));
    if (Math.abs(candidate.length - word.length) > allowed) continue;
    const distance = editDistance(word, candidate);
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { candidate, distance };
  }
  return best?.candidate;
}

/** How many letters must be inserted, deleted, replaced or swapped with their neighbour: `dmeo` is 1 from `demo`. */
function editDistance(from: string, to: string): number {
  const none = Number.POSITIVE_INFINITY;
  /** For each start of `from`, the distances to each start of `to`. */
  const rows: number[][] = [];
  for (let i = 0; i <= from.length; i++) {
    const row = [i];
    const before = (back: number, j: number) => rows[i - back]?.[j] ?? none;
    for (let j = 1; j <= to.length; j++) {
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? before(2, j - 2) + 1 : none;
      const replaced = before(1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, swapped, before(1, j) + 1, (row[j - 1] ?? none) + 1);
    }
    rows.push(row);
  }
  return rows.at(-1)?.[to.length] ?? none;
}
