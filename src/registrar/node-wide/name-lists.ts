import { invalidOption } from "../../base/errors";
import { matchPattern, parsePattern } from "../../host-path/path-pattern";
import { quoteText } from "../../logging/escape";
import { judgeDriverName } from "../driver/driver-name";

/** The names to register, and those to leave out; without `allow`, all names outside of `deny` are registered. */
export interface NameLists {
  /**
   * `NAME`, or `NAME=PATTERN`: only where the driver's socket, as this process sees it, fits the pattern. In `*=PATTERN`
   * the name is what the pattern's one `*` stands for.
   */
  readonly allow?: readonly string[] | undefined;
  /** Names that are never registered. @default [] */
  readonly deny?: readonly string[] | undefined;
}

const NAME_IN_PATH = "*";

/** An entry of `allow`; without a pattern the name is allowed at every path. No name has a slash: `=/` begins the path. */
function parseAllowed(entry: string) {
  const refuse = (why: string) => invalidOption(`allowed driver ${quoteText(entry)}: ${why}`);
  const at = entry.indexOf("=/");
  const name = at === -1 ? entry : entry.slice(0, at);
  const pattern = at === -1 ? undefined : parsePattern(entry.slice(at + 1), "allowed driver");
  if (name === NAME_IN_PATH ? pattern?.stars !== 1 : name === "" || /[=*]/.test(name))
    throw refuse("give NAME, NAME=/path, or *=/path with one '*'");
  const verdict = judgeDriverName(name);
  if (verdict.kind === "unsafe") throw refuse(`no driver of this name is registered: ${verdict.problem}`);
  return { name, pattern };
}

/** The lists, each entry read. */
export interface ParsedNames {
  readonly allow?: readonly ReturnType<typeof parseAllowed>[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

/** Throws INVALID_OPTION for an entry without a meaning. */
export function parseNameLists({ allow, deny }: NameLists): ParsedNames {
  const parsed = { allow: allow?.map(parseAllowed), deny };
  const withPath = deny?.find((entry) => entry.includes("="));
  if (withPath === undefined) return parsed;
  const why = "a name is denied at every path, give it alone";
  throw invalidOption(`denied driver ${quoteText(withPath)}: ${why}`);
}

/** Every name that the lists allow; undefined if they do not name each one. */
export function allowedNames({ allow, deny }: ParsedNames): readonly string[] | undefined {
  const names = allow?.map(({ name }) => name);
  if (names === undefined || names.includes(NAME_IN_PATH)) return undefined;
  return [...new Set(names)].filter((name) => !deny?.includes(name));
}

/** Why the lists exclude a driver of this name behind this socket; undefined if they do not. */
export function whyUnwanted(
  name: string,
  socketPath: string,
  { allow, deny }: ParsedNames = {},
): string | undefined {
  const isAllowed = ({ name: allowedName, pattern }: ReturnType<typeof parseAllowed>) => {
    if (pattern === undefined) return name === allowedName;
    const captures = matchPattern(pattern, socketPath);
    return captures !== undefined && name === (allowedName === NAME_IN_PATH ? captures[0] : allowedName);
  };
  if (allow?.some(isAllowed) === false)
    return allow.some((one) => one.name === name)
      ? "its name is allowed at another path only"
      : "it is not among those allowed";
  return deny?.includes(name) ? "it is among those denied" : undefined;
}
