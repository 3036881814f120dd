/** A value out of YAML, or out of the API server's JSON, of which nothing is certain. */
export type Tree = Readonly<Record<string, unknown>>;

/** The fields of an object; empty for any other value. */
export function tree(value: unknown): Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Tree) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text as it is, and what is none as text; nothing where there is nothing. */
export function text(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}

/** A text that is not empty, or undefined. */
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

/** Whether a text still has something to be filled in: by an installer, or by kubelet from what is not seen here. */
export function isTemplate(text: string): boolean {
  return /\{\{|\}\}|\$\(|\$\{|<[^<>]*>|\$[A-Z]/.test(text);
}
