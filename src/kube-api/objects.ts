import { invalidOption, refuse } from "../base/errors";
import { boundText } from "../logging/escape";

/** An object from YAML, or from the API server's JSON, whose fields may be anything. */
export type Tree = Readonly<Record<string, unknown>>;

/** The cause of the error with which the functions below refuse a value. */
export interface Unlike {
  readonly kind: "unlike";
  readonly value: unknown;
  /** As people read it. */
  readonly has: string;
  readonly wanted: string;
}

export function refuseUnlike(
  value: unknown,
  wanted:
    | "list"
    | "list without null"
    | "map"
    | "text"
    | "text or number"
    | "number"
    | "whole number"
    | "boolean"
    | "time",
): never {
  // A text in quotes, where it reads as another type.
  const isQuoted = typeof value === "string" && /^(?:true|false|null|[-+.]?\d.*)$/.test(value);
  const written = isQuoted ? JSON.stringify(value) : anyText(value);
  const has = boundText(written || (value ? JSON.stringify(value) : "nothing"), 120);
  const cause: Unlike = { kind: "unlike", value, has, wanted };
  throw invalidOption(`it has ${has} where a ${wanted} must be`, { cause });
}

/**
 * The field of an object for which `read` threw this value as an unlike one: `spec.containers[0].args`. Others may have an equal
 * value; with another one of its type, `read` throws that one. Undefined: the object itself, or none.
 */
export function unlikeFieldIn(
  value: unknown,
  object: unknown,
  read: (object: unknown) => void,
): string | undefined {
  const other = likeOf(value);
  const isIt = (path: readonly string[]) => {
    try {
      read(replaced(object, path, other));
      return false;
    } catch (error) {
      return (Object(error).cause as Partial<Unlike> | undefined)?.value === other;
    }
  };
  const found = pathsTo(value, object)
    .slice(0, MOST_TRIED)
    .find((path) => path.length > 0 && isIt(path));
  return found
    ?.map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name}`))
    .join("")
    .replace(/^\./, "");
}

/** It takes as long to read an object each time. */
const MOST_TRIED = 100;

/** A list or map itself, and no equal one. */
const pathsTo = (value: unknown, object: unknown): readonly (readonly string[])[] =>
  object === value
    ? [[]]
    : Object.entries(typeof object === "object" && object ? object : {}).flatMap(([name, one]) =>
        pathsTo(value, one).map((path) => [name, ...path]),
      );

function likeOf(value: unknown): unknown {
  if (typeof value === "object" && value) return Array.isArray(value) ? [...value] : { ...value };
  return typeof value === "boolean" ? !value : typeof value === "number" ? value + 1 : `${value}?`;
}

function replaced(object: unknown, [name, ...path]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy = Array.isArray(object) ? [...object] : { ...anyTree(object) };
  return Object.assign(copy, { [name]: replaced(Object(object)[name], path, by) });
}

export const isMap = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields of an object: those that are null are absent, and one that is absent has none. Throws for any other value. */
export function tree(value: unknown): Tree {
  if (value === undefined || value === null) return {};
  const map = isMap(value) ? value : refuseUnlike(value, "map");
  if (!Object.values(map).includes(null)) return map;
  return Object.fromEntries(Object.entries(map).filter(([, field]) => field !== null));
}

/** The fields of an object. Throws for any other value, null and absent too. */
export const mapOf = (value: unknown): Tree => (isMap(value) ? tree(value) : refuseUnlike(value, "map"));

/** The items of a list; absent and null have none. Throws for any other value, and for an item that is null. */
export function list(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return refuseUnlike(value, "list");
  return value.includes(null) ? refuseUnlike(value, "list without null") : value;
}

/** The fields of an object; none for any other value. */
export const anyTree = (value: unknown): Tree => (isMap(value) ? value : {});

/** Any text, number or boolean as text; empty for any other value. */
export const anyText = (value: unknown): string =>
  ["string", "number", "boolean"].includes(typeof value) ? String(value) : "";

/** A text; empty if it is absent or null. Throws for any other value. */
export function text(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : refuseUnlike(value, "text");
}

/** The same where the API takes a number, too: a quantity, a port. */
export const textOrNumber = (value: unknown): string =>
  ["number", "string"].includes(typeof (value ?? ""))
    ? anyText(value)
    : refuseUnlike(value, "text or number");

/** Undefined: it is absent, null or empty. Throws for any other value than a text. */
export const textOrNone = (value: unknown): string | undefined => text(value) || undefined;

/** Undefined: it is absent or null. Throws for any other value than a number. */
export function numberOrNone(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "number" ? value : refuseUnlike(value, "number");
}

/** Undefined: it is absent or null. Throws for any other value than a boolean. */
export function boolOrNone(value: unknown): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "boolean" ? value : refuseUnlike(value, "boolean");
}

/** As the API has them: absent and null are false. Throws for any other value than a boolean. */
export const bool = (value: unknown): boolean => boolOrNone(value) ?? false;

/** The value of a field that every object of its kind has. Throws where it is absent. */
export const needed = <Value>(field: string, value: Value | undefined): Value =>
  value ?? refuse(`it has no ${field}`);

const namesBy = (readTree: typeof tree, readText: typeof text) => (object: unknown) => {
  const { namespace, name } = readTree(readTree(object).metadata);
  return [namespace, name].map(readText).filter(Boolean).join("/");
};

/** `NAMESPACE/NAME`; the name alone of an object without a namespace. */
export const nameOf = namesBy(tree, text);

/** The same for a value of any type, for people. */
export const anyNameOf = namesBy(anyTree, anyText);

/** An RFC 3339 time in milliseconds since 1970. Undefined: it is absent or null. Throws for any other value. */
export function timeOrNone(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? refuseUnlike(value, "time") : ms;
}
