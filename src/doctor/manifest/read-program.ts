import { invalidOption } from "../../base/errors";
import { nearWord } from "../../base/near-word";
import { boundText } from "../../logging/escape";
import { list, type Tree, text, tree } from "../rules/objects";
import type { Deployment, LiteralVariable, OfficialImage } from "./deployment";

/** Ours or the official one, as the images and the package call it. */
const REGISTRAR = /(?:^|[\\/])(?:[\w.-]*driver-registrar|registrar|cli\.js)(?:\.exe)?$/;
const NODE = /(?:^|\/)node(?:js)?$/;

/** Mirrors and forks keep the name, and may have tags of their own: only v1.1 to v2 are judged by release. */
export function officialImage(image: string): OfficialImage | undefined {
  const [name, tag] =
    /^[^:@]*driver-registrar[^:@]*(?::v?(1\.[1-9]\d*|2\.\d+))?/.exec(image.split("/").at(-1) ?? "") ?? [];
  if (name === undefined) return undefined;
  const [major, minor] = (tag ?? "").split(".").map(Number);
  return { release: minor === undefined || major === undefined ? undefined : major * 100 + minor };
}

/** A `$(NAME)` that is in a text still, as the object does not have its value. */
export interface OpenVariable {
  readonly name: string;
  /** Whether it may be filled in from elsewhere; one that is nowhere stays as it is in the container, too. */
  readonly isElsewhere: boolean;
}

/** A text with what is filled in from the environment. */
interface FilledIn {
  readonly text: string;
  readonly open: readonly OpenVariable[];
}

const OUR_IMAGE = /(?:^|\/)registrar(?::[^/@]*)?(?:@.*)?$/;

/** By its arguments or its image; ours has a name that others may have, too. */
export function isRegistrar(container: Tree): boolean {
  const image = text(container.image);
  const words = [...list(container.command), ...list(container.args)].map(text);
  const folders = list(container.volumeMounts).map((mount) => text(tree(mount).mountPath));
  return (
    words.some((word) => /^--?kubelet-registration-path(?:=|$)/.test(word)) ||
    officialImage(image) !== undefined ||
    (OUR_IMAGE.test(image) &&
      (/registrar/.test(text(container.name)) ||
        folders.some((folder) => /^\/registration\/*$/.test(folder))))
  );
}

/** How a container starts: the image's own program or a registrar with arguments, or another program. */
export function startOf(container: Tree): {
  /** The other program; the arguments are its own, and none are given here. */
  readonly startedBy: string | undefined;
  /** With what is filled in from the environment. */
  readonly args: readonly string[];
  readonly open: readonly OpenVariable[];
} {
  const fill = environmentOf(container);
  const [command, args] = [list(container.command), list(container.args)].map((words) =>
    words.map((word) => fill(text(word))),
  ) as [FilledIn[], FilledIn[]];
  const registrar = (own: readonly FilledIn[]) => ({
    startedBy: undefined,
    args: own.map((word) => word.text),
    open: own.flatMap((word) => word.open),
  });
  if (command.length === 0) return registrar(args);
  const words = [...command, ...args];
  const own = behindRegistrar(words.map((word) => word.text));
  return own === undefined
    ? { startedBy: words[0]?.text, args: [], open: [] }
    : registrar(words.slice(words.length - own.length));
}

/** The words behind the registrar's own program; undefined where another one is started. */
export function behindRegistrar(words: readonly string[]): readonly string[] | undefined {
  const [program = "", ...behindProgram] = NODE.test(words[0] ?? "") ? words.slice(1) : words;
  return REGISTRAR.test(program) ? behindProgram : undefined;
}

/** Linux starts no program with a longer argument or variable (MAX_ARG_STRLEN), nor with more of them in all (ARG_MAX). */
const MAX_ARGUMENT_LENGTH = 2 ** 17;
const MAX_ARGUMENTS_LENGTH = 2 ** 21;

/** Kubelet adds variables of the namespace's services. */
const OF_SERVICE = /_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?$/;

/**
 * Fills in `$(NAME)` as kubelet does, from the container's environment; what is not known stays as it is. Throws
 * INVALID_OPTION where that becomes longer than a program's arguments can be.
 */
export function environmentOf({ env, envFrom }: Tree): (word: string) => FilledIn {
  const values = new Map<string, FilledIn | undefined>();
  const hasMore = list(envFrom).length > 0;
  let total = 0;
  const fill = (word: string): FilledIn => {
    const open: OpenVariable[] = [];
    let length = 0;
    const refuseLong = (more: number) => {
      length += more;
      total += more;
      if (length > MAX_ARGUMENT_LENGTH || total > MAX_ARGUMENTS_LENGTH)
        throw invalidOption("its variables, filled in, are longer than a program's arguments can be");
    };
    const filledIn = word.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name?: string) => {
      if (name === undefined) return "$";
      const value = values.get(name);
      const isElsewhere = hasMore || values.has(name) || OF_SERVICE.test(name);
      refuseLong(value?.text.length ?? whole.length);
      open.push(...(value?.open ?? [{ name, isElsewhere }]));
      return value?.text ?? whole;
    });
    return { text: filledIn, open };
  };
  // One that comes from elsewhere hides what had its name before.
  for (const { name, value, valueFrom } of list(env).map(tree))
    values.set(text(name), valueFrom === undefined ? fill(text(value)) : undefined);
  return fill;
}

/** No author of a DaemonSet writes more of them, or longer ones, by mistake. */
const MAX_LITERALS = 10;
const MAX_NAME_LENGTH = 100;

/** The variables in these words that nothing fills in. */
export function literalsIn(
  words: readonly string[],
  open: readonly OpenVariable[],
  { env }: Tree,
): readonly LiteralVariable[] {
  const names = list(env)
    .map((one) => text(tree(one).name))
    .filter(({ length }) => length <= MAX_NAME_LENGTH);
  const literals = open.filter(
    ({ name, isElsewhere }) => !isElsewhere && words.some((word) => word.includes(`$(${name})`)),
  );
  return [...new Set(literals.map(({ name }) => name))].slice(0, MAX_LITERALS).map((name) => ({
    name,
    isLate: names.includes(name),
    meant: name.length > MAX_NAME_LENGTH ? undefined : nearWord(name, names),
  }));
}

/** What to do about a variable that nothing fills in. */
export function fillIn({ name, isLate, meant }: LiteralVariable): string {
  if (isLate) return `put ${name} first in its env`;
  return meant === undefined ? `add ${name} to its env` : `did you mean $(${meant})?`;
}

/** What has to be text and is a number, a switch or the like, which YAML makes of it without quotes. */
export function noTextsOf({ command, args, env }: Tree): Deployment["noTexts"] {
  const isNoText = (value: unknown) => typeof value !== "string" && value !== null && value !== undefined;
  const inList = (where: string, values: unknown) =>
    list(values).map((value) => ({ value, where: `in ${where}` }));
  return [
    ...inList("command", command),
    ...inList("args", args),
    ...list(env)
      .map(tree)
      .map(({ name, value }) => ({ value, where: `as value of ${text(name)}` })),
  ]
    .filter(({ value }) => isNoText(value))
    .map(({ value, where }) => ({ value: boundText(JSON.stringify(value)), where }));
}
