import { isAbsolute, resolve } from "node:path";
import { refuse } from "../base/errors";
import { nearWord } from "../base/near-word";
import { LONGEST_WAIT_MS } from "../base/pause";
import { fitsSocketPath, MAX_SOCKET_PATH_BYTES, pathInUnixAddress } from "../unix/socket-path";

export interface OptionKind<Value> {
  /** Ends the sentence "it takes …". */
  readonly takes: string;
  /** The value as it is used. Throws INVALID_OPTION, with `name` in front. */
  readonly read: (given: unknown, name: string) => Value;
}

const MAX_SHOWN_LENGTH = 60;

/** What was given, as an error's text names it. */
export function show(given: unknown): string {
  if (typeof given === "string")
    return JSON.stringify(given.length > MAX_SHOWN_LENGTH ? `${given.slice(0, MAX_SHOWN_LENGTH)}…` : given);
  if (typeof given === "function") return "a function";
  if (typeof given === "bigint") return `${given}n`;
  if (typeof given !== "object" || given === null) return String(given);
  const type = typeOf(given);
  const noun = type === "Object" || type === "Array" ? type.toLowerCase() : type;
  return `${/^(?:[aeio]|u(?!int|rl))/i.test(noun) ? "an" : "a"} ${noun}`;
}

/** Whether it is an object with fields, not a Map, Date, promise or the like. */
export const isObject = (given: unknown): given is object => typeOf(given) === "Object";

const typeOf = (given: unknown) => Object.prototype.toString.call(given).slice("[object ".length, -1);

/** Throws INVALID_OPTION with what was given and what is taken. */
function refuseOption(name: string, given: unknown, takes: string): never {
  const what = given === undefined ? "missing" : show(given);
  return refuse(`${name} is ${what}; it takes ${takes}`);
}

/** Makes a kind: `accept` returns undefined for an unusable value. */
export const kindOf = <Value>(
  takes: string,
  accept: (given: unknown, name: string) => Value | undefined,
): OptionKind<Value> => ({
  takes,
  read: (given, name) => accept(given, name) ?? refuseOption(name, given, takes),
});

export const textKind = kindOf("a text", (given) => (typeof given === "string" ? given : undefined));

export const flag = kindOf("true or false", (given) => (typeof given === "boolean" ? given : undefined));

export const callbackOf = <Callback extends (...args: never[]) => unknown>(): OptionKind<Callback> =>
  kindOf("a function", (given) => (typeof given === "function" ? (given as Callback) : undefined));

/** A new signal that follows the given one: for one with 11 listeners Node 20 warns of a leak. An imitation stays. */
export const signal = kindOf("an AbortSignal", (given) => {
  if (given instanceof AbortSignal) return AbortSignal.any([given]);
  const { aborted, addEventListener } = Object(given) as Partial<AbortSignal>;
  const isSignal = typeof aborted === "boolean" && typeof addEventListener === "function";
  return isSignal ? (given as AbortSignal) : undefined;
});

/** One of these words; else the error names the word that was probably meant. */
export function oneOf<Word extends string>(words: readonly Word[]): OptionKind<Word> {
  const takes = `one of ${words.map((word) => JSON.stringify(word)).join(", ")}`;
  const read = (given: unknown, name: string) => {
    const meant = typeof given === "string" ? nearWord(given, words) : undefined;
    const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
    return words.find((word) => word === given) ?? refuseOption(name, given, takes + hint);
  };
  return { takes, read };
}

export const wholeNumber = (least: number, most: number): OptionKind<number> =>
  kindOf(`a whole number, ${least} to ${most}`, (given) =>
    Number.isInteger(given) && Number(given) >= least && Number(given) <= most ? Number(given) : undefined,
  );

export const milliseconds = ({ orZero = false } = {}): OptionKind<number> =>
  kindOf(
    `milliseconds, ${orZero ? "0 or more" : "more than 0"} and at most ${LONGEST_WAIT_MS} (24 days)`,
    (given) => {
      const least = orZero ? 0 : Number.MIN_VALUE;
      return typeof given === "number" && given >= least && given <= LONGEST_WAIT_MS ? given : undefined;
    },
  );

const isPath = (given: unknown): given is string =>
  typeof given === "string" && given !== "" && !given.includes("\0");

/** A directory; made absolute at once, so that a later `chdir` changes nothing. */
export const directoryPath = kindOf("the path of a directory, without unix://", (given) =>
  isPath(given) && !/^(?:[a-z][a-z0-9+.-]*:\/\/|unix:)/i.test(given) ? resolve(given) : undefined,
);

const SOCKET_PATH = `the path of a unix socket, ${MAX_SOCKET_PATH_BYTES} bytes at most`;

const short = (path: string, name: string, takes = SOCKET_PATH): string =>
  fitsSocketPath(path) ? path : refuse(`${name} has ${Buffer.byteLength(path)} bytes; it takes ${takes}`);

/** The path in a path, or in an address with `unix:`. */
function pathOf(given: unknown): string | undefined {
  if (!isPath(given)) return undefined;
  if (given.startsWith("unix:")) return pathInUnixAddress(given);
  // Another scheme, or HOST:PORT, which would become a file of this name.
  return /^[a-z][a-z0-9+.-]*:\/\/|^[^/]*:\d+$/i.test(given) ? undefined : given;
}

/** A unix socket as this process sees it; made absolute at once. */
export const socketPathKind: OptionKind<string> = kindOf(SOCKET_PATH, (given, name) => {
  const path = pathOf(given);
  return path === undefined ? undefined : short(resolve(path), name);
});

const HOST_SOCKET_PATH = `${SOCKET_PATH}, absolute, as kubelet sees it on the host`;

/** A unix socket as kubelet sees it on the host, where our working directory means nothing. */
export const hostSocketPath: OptionKind<string> = kindOf(HOST_SOCKET_PATH, (given, name) => {
  const path = pathOf(given) ?? "";
  return isAbsolute(path) && !path.endsWith("/") ? short(path, name, HOST_SOCKET_PATH) : undefined;
});

export const valuesByKey = <Value>(kind: OptionKind<Value>): OptionKind<Readonly<Record<string, Value>>> =>
  kindOf(`an object, each value ${kind.takes}`, (given, name) => {
    const read = ([key, value]: [string, unknown]) => [key, kind.read(value, `${name}[${show(key)}]`)];
    return isObject(given) ? Object.fromEntries(Object.entries(given).map(read)) : undefined;
  });

export const listOf = <Value>(kind: OptionKind<Value>): OptionKind<readonly Value[]> =>
  kindOf(`a list, each of ${kind.takes}`, (given, name) => {
    if (!Array.isArray(given)) return undefined;
    // A hole is undefined here, which `map` skips.
    return Array.from(given, (one, index) => kind.read(one, `${name}[${index}]`));
  });
