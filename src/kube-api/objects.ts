/** An object from YAML, or from the API server's JSON, whose fields may be anything. */
export type Tree = Readonly<Record<string, unknown>>;

/** The fields of an object; empty for any other value. */
export function tree(value: unknown): Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Tree) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Any value as text; empty for null and undefined. */
export function text(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberOrNone(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** An RFC 3339 time in milliseconds since 1970; undefined if it is invalid. */
export function timeOrNone(value: unknown): number | undefined {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
