import { plain, printable } from "../../../logging/escape";
import { MAX_SOCKET_PATH_BYTES } from "../../../unix/socket-path";

export function tooLong(bytes: number): string {
  return `has ${bytes} bytes, but a unix socket path has at most ${MAX_SOCKET_PATH_BYTES}`;
}

/** A driver's name, which may be empty: a subject is never blank. */
export const namedText = (name: string): string => name || '""';

/** `1 node`, `5,000 nodes`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

export const ofContainer = (name: string): string => `container ${name}`;

const NAMED = 5;

/** `a, b, c, d, e and 3 more`. */
export function firstOf(names: readonly string[]): string {
  const left = names.length - NAMED;
  return names.slice(0, NAMED).join(", ") + (left > 0 ? ` and ${left.toLocaleString("en")} more` : "");
}

export const RENDER_FIRST = "render the file first";
export const WRITE_NAMESPACE = "write the namespace into both";

/** What to do about two registrars of one driver on a node: they take the registration from each other. */
export const LEAVE_ONE =
  "keep only one registrar of the driver on each node: remove the other DaemonSet, or give the two different nodes";

/** `A and B`; `A, B and C`. */
export const together = (names: readonly string[]): string =>
  [...names.slice(0, -2), names.slice(-2).join(" and ")].join(", ");

/** As bash takes it for one word, in one line. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return printable(text) === text
    ? `'${text.replaceAll("'", `'"'"'`)}'`
    : `$'${plain(text).replaceAll("'", "\\'")}'`;
}

/** What to write into the registrar's arguments. */
export const writeFlag = (flag: string, value: string, fix = "write") => ({
  ...{ fix, command: `--${flag}=${value}` },
});

/** `--name=value` of each that has a value, as bash takes it. */
export const flagsOf = (values: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.entries(values).flatMap(([flag, value]) =>
    value === undefined ? [] : `--${flag}=${shellWord(value)}`,
  );
