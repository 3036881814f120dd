import { grouped } from "../findings/grouped";

/** Several registrars of one driver. */
export interface Duplicates<Item> {
  readonly key: string;
  readonly items: readonly Item[];
  /** `A and B`, or `A, B and C`. */
  readonly names: string;
  readonly all: "both" | "all";
}

/** What to do about two registrars of one driver on a node: they take the registration from each other. */
export const LEAVE_ONE =
  "leave one registrar to each driver on a node: look for a second DaemonSet, or give them nodes that do not overlap";

/** Items that have a key in common, more than one of which `mayMeet` leaves. */
export function duplicatesIn<Item>(
  items: Iterable<Item>,
  { keyOf, nameOf, mayMeet = (ones) => ones }: DuplicateRule<Item>,
): readonly Duplicates<Item>[] {
  return [...grouped(items, keyOf)].flatMap(([key, group]) => {
    const ones = mayMeet(group);
    const [names, all] = together(ones.map(nameOf));
    return ones.length > 1 ? [{ key, items: ones, names, all }] : [];
  });
}

interface DuplicateRule<Item> {
  readonly keyOf: (item: Item) => string;
  readonly nameOf: (item: Item) => string;
  /** Of several with one key, those that may be on one node. Default: all. */
  readonly mayMeet?: (items: readonly Item[]) => readonly Item[];
}

/** `A and B`, `both`; `A, B and C`, `all`. */
export function together(names: readonly string[]): readonly [names: string, all: "both" | "all"] {
  const listed = [...names.slice(0, -2), names.slice(-2).join(" and ")].join(", ");
  return [listed, names.length === 2 ? "both" : "all"];
}
