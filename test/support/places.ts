/** The paths of all values in a value; of itself the empty one. */
export const placesIn = (value: unknown): readonly (readonly string[])[] =>
  typeof value === "object" && value !== null
    ? [[], ...Object.entries(value).flatMap(([key, one]) => placesIn(one).map((path) => [key, ...path]))]
    : [[]];

const isTree = (value: unknown) => typeof value === "object" && value !== null;

/** Those of all lists and maps, except the value itself. */
export const treesIn = (value: unknown) =>
  placesIn(value).filter((path) => path.length > 0 && isTree(valueAt(value, path)));

/** Those of all others. */
export const leavesIn = (value: unknown) => placesIn(value).filter((path) => !isTree(valueAt(value, path)));

export const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((one, key) => Object(one)[key], value);

export function replaceAt(value: unknown, [key, ...path]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...Object(value) }) as Record<string, unknown>;
  copy[key] = replaceAt(copy[key], path, by);
  return copy;
}
