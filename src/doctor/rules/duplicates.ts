import { grouped } from "../findings/grouped";

/** What to do about two registrars of one driver on a node: they take the registration from each other. */
export const LEAVE_ONE =
  "leave one registrar to each driver on a node: look for a second DaemonSet, or give them nodes that do not overlap";

interface DuplicateRule<Item> {
  readonly keyOf: (item: Item) => string;
  readonly nameOf: (item: Item) => string;
  /** Of several with one key, those that may be on one node. */
  readonly mayMeet: (items: readonly Item[]) => readonly Item[];
}

/** Items that have a key in common, more than one of which `mayMeet` leaves; `names` and `all` as from `together`. */
export function duplicatesIn<Item>(items: Iterable<Item>, { keyOf, nameOf, mayMeet }: DuplicateRule<Item>) {
  return [...grouped(items, keyOf)].flatMap(([key, group]) => {
    const ones = mayMeet(group);
    const [names, all] = together(ones.map(nameOf));
    return ones.length > 1 ? [{ key, names, all }] : [];
  });
}

/** `A and B`, `both`; `A, B and C`, `all`. */
export function together(names: readonly string[]): readonly [names: string, all: "both" | "all"] {
  const listed = [...names.slice(0, -2), names.slice(-2).join(" and ")].join(", ");
  return [listed, names.length === 2 ? "both" : "all"];
}
