/** What to do about two registrars of one driver on a node: they take the registration from each other. */
export const LEAVE_ONE =
  "leave one registrar to each driver on a node: look for a second DaemonSet, or give them nodes that do not overlap";

/** `A and B`, `both`; `A, B and C`, `all`. */
export function together(names: readonly string[]): readonly [names: string, all: "both" | "all"] {
  const listed = [...names.slice(0, -2), names.slice(-2).join(" and ")].join(", ");
  return [listed, names.length === 2 ? "both" : "all"];
}
