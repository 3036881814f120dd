import type { OfficialImage } from "./deployment";
import { list, type Tree, text, tree } from "./objects";

/** Ours or the official one, as the images and the package call it. */
const REGISTRAR = /(?:^|[\\/])(?:[\w.-]*driver-registrar|registrar|cli\.js)(?:\.exe)?$/;
const NODE = /(?:^|\/)node(?:js)?$/;

/** Mirrors and forks keep the name, and may have tags of their own: only v1.1 to v2 are judged by release. */
export function officialImage(image: string): OfficialImage | undefined {
  const [name, tag] =
    /(?:^|\/)[^/:@]*driver-registrar[^/:@]*(?::v?(1\.[1-9]\d*|2\.\d+))?[^/]*$/.exec(image) ?? [];
  if (name === undefined) return undefined;
  const [major, minor] = (tag ?? "").split(".").map(Number);
  return { release: minor === undefined || major === undefined ? undefined : major * 100 + minor };
}

/** How a container starts: the image's own program or a registrar with arguments, or another program. */
export function startOf(container: Tree): {
  /** The other program; the arguments are its own, and none are given here. */
  readonly startedBy: string | undefined;
  /** With what is filled in from the environment. */
  readonly args: readonly string[];
  /** Variables that are still in the arguments as `$(NAME)`, as the object does not have their values. */
  readonly variables: readonly string[];
} {
  const values = environmentOf(container);
  const filledIn = (words: unknown) => list(words).map((word) => expand(text(word), values));
  const [command, args] = [filledIn(container.command), filledIn(container.args)];
  const registrar = (own: readonly string[]) => ({
    startedBy: undefined,
    args: own,
    variables: variablesIn(own).filter((name) => comesFromElsewhere(name, container)),
  });
  if (command.length === 0) return registrar(args);
  const words = [...command, ...args];
  const [program = "", ...behindProgram] = NODE.test(words[0] ?? "") ? words.slice(1) : words;
  return REGISTRAR.test(program)
    ? registrar(behindProgram)
    : { startedBy: words[0], args: [], variables: [] };
}

/** The variables whose values are in the object. */
export function environmentOf(container: Tree): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  // One that comes from elsewhere hides what had its name before.
  for (const { name, value, valueFrom } of list(container.env).map(tree))
    if (valueFrom !== undefined) values.delete(text(name));
    else values.set(text(name), expand(text(value), values));
  return values;
}

/** One that is nowhere at all stays `$(NAME)` in the container, too. */
function comesFromElsewhere(name: string, { env, envFrom }: Tree): boolean {
  return list(envFrom).length > 0 || list(env).some((one) => text(tree(one).name) === name);
}

function variablesIn(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => Array.from(word.matchAll(/\$\(([^)]*)\)/g), ([, name = ""]) => name));
}

/** Fills in `$(NAME)` as kubelet does; what is not known stays as it is. */
export function expand(word: string, values: ReadonlyMap<string, string>): string {
  return word.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name?: string) =>
    name === undefined ? "$" : (values.get(name) ?? whole),
  );
}
