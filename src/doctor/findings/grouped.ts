/** Items that have a key in common; there is always one. */
export type Group<Item> = readonly [Item, ...Item[]];

/** Puts together the items that have the same key, in the order in which they come. */
export function grouped<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string,
): ReadonlyMap<string, Group<Item>> {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
