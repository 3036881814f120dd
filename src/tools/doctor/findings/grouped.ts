export const sortedBy = <Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string | number,
): readonly Item[] => [...items].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));

/** Groups the items by their keys, in the order of the first items; no group is empty. */
export function grouped<Item, Key = string>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): ReadonlyMap<Key, readonly [Item, ...Item[]]> {
  const groups = new Map<Key, [Item, ...Item[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** The same function, called once for each key. */
export function remembered<Value>(find: (key: string) => Value) {
  const known = new Map<string, Value>();
  return (key: string): Value => {
    const value = known.get(key) ?? find(key);
    known.set(key, value);
    return value;
  };
}
