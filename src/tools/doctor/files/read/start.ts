import { invalidOption } from "../../../../base/errors";
import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { behindRegistrar, type Program } from "../../../recognise/program";
import { itemsOf } from "../../../recognise/rule";

/** A `$(NAME)` whose value is not in the object. */
interface OpenVariable {
  readonly name: string;
  /** It may have a value at run time; without one kubelet leaves the `$(NAME)` as it is. */
  readonly isElsewhere: boolean;
}

interface FilledIn {
  readonly text: string;
  readonly open: readonly OpenVariable[];
}

/** How a container starts: by itself, with its own arguments, or by another program, which has arguments of its own. */
export function startOf(container: Tree, { kind }: Program) {
  const fill = environmentOf(container);
  const filledIn = (words: unknown) => itemsOf(words).map((word) => fill(text(word)));
  const [command, args] = [filledIn(container.command), filledIn(container.args)];
  const words = [...command, ...args];
  const behind = behindRegistrar(words.map((word) => word.text));
  // A program that does more has the registrar as subcommand.
  const own = command.length > 0 ? behind : ((kind === "unknown" ? behind : undefined) ?? args);
  const used = words.slice(words.length - (own?.length ?? 0));
  return {
    startedBy: own === undefined ? words[0]?.text : undefined,
    args: used.map((word) => word.text),
    open: used.flatMap((word) => word.open),
  };
}

export function wordsOf(container: Tree): readonly string[] {
  const fill = environmentOf(container);
  return [...itemsOf(container.command), ...itemsOf(container.args)].map((word) => fill(text(word)).text);
}

/** Linux' limits of one argument or variable (MAX_ARG_STRLEN), and of all of them (ARG_MAX). */
const MAX_ARGUMENT_LENGTH = 2 ** 17;
const MAX_ARGUMENTS_LENGTH = 2 ** 21;

/** Kubelet adds variables for the namespace's services. */
const OF_SERVICE = /_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?$/;

/**
 * Fills in `$(NAME)` from the container's environment as kubelet does. Throws INVALID_OPTION if the result is longer than a
 * program's arguments can be.
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

/** The variables in these words that have no value: no author of a DaemonSet writes more of them by mistake. */
export const literalsIn = (words: readonly string[], open: readonly OpenVariable[]): readonly string[] => {
  const names = open.flatMap(({ name, isElsewhere }) => (isElsewhere ? [] : name));
  const found = names.filter((name) => words.some((word) => word.includes(`$(${name})`)));
  return [...new Set(found)].slice(0, MAX_LITERALS);
};
const MAX_LITERALS = 10;
