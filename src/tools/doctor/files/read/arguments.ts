import { OFFICIAL_PROBE_MODE } from "../../../../flags/grammar";
import { startProblemOf } from "../../../../flags/node-readiness";
import { endpointOf, wantsNodeReadiness } from "../../../../flags/start-options";
import { ACCEPTED_FLAGS, type Flags, isProbeMode, parseFlags } from "../../../../flags/table";
import { isPattern } from "../../../../host-path/path-pattern";
import { bool, list, type Tree, text, tree } from "../../../../kube-api/objects";
import { NODE_NAME_VARIABLES } from "../../../../node-readiness/options";
import { plainPath } from "../../../../unix/mounts";
import { parseCsiAddress } from "../../../../unix/socket-path";
import { askOfficial } from "../../../recognise/official";
import { behindRegistrar, type Program } from "../../../recognise/program";
import { isTemplate } from "../../../recognise/rule";
import { looked, refuseFlaw, type Seen, type Truth, truth, type Unread } from "../../findings/seen";
import { filled, unread } from "./filled";

/** A `$(NAME)` whose value is not in the object. */
export interface OpenVariable {
  readonly name: string;
  /** It may have a value at run time; without one kubelet leaves the `$(NAME)` as it is. */
  readonly isElsewhere: boolean;
  /** Its value is an address of the pod or its node, whichever that is. */
  readonly isAddress: boolean;
  /** A field of the pod, which is never empty: a ConfigMap's key may be missing, or empty. */
  readonly isField: boolean;
}

interface FilledIn {
  readonly text: string;
  readonly open: readonly OpenVariable[];
}

/** How a container starts: by itself, with its own arguments, or by another program, which has arguments of its own. */
export function startOf(container: Tree, { kind }: Program) {
  const words = filledIn(container);
  const hasCommand = list(container.command).length > 0;
  const behind = behindRegistrar(words.map((word) => word.text));
  // A program that does more has the registrar as subcommand.
  const own = hasCommand ? behind : ((kind === "unknown" ? behind : undefined) ?? words);
  const used = words.slice(words.length - (own?.length ?? 0));
  return {
    startedBy: own === undefined ? words[0]?.text : undefined,
    args: used.map((word) => word.text),
    open: used.flatMap((word) => word.open),
  };
}

export const wordsOf = (container: Tree): readonly string[] => filledIn(container).map((word) => word.text);

/** The words of its command and arguments. */
export function filledIn(container: Tree): readonly FilledIn[] {
  const fill = environmentOf(container);
  return [...list(container.command), ...list(container.args)].map((word) => fill(text(word)));
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
  const fields = new Map<string, string>();
  const hasMore =
    list(envFrom).map(tree).length > 0 || list(env).some((one) => isTemplate(text(tree(one).name)));
  let total = 0;
  const fill = (word: string): FilledIn => {
    const open: OpenVariable[] = [];
    let length = 0;
    const refuseLong = (more: number) => {
      length += more;
      total += more;
      if (length > MAX_ARGUMENT_LENGTH || total > MAX_ARGUMENTS_LENGTH) refuseFlaw("variables");
    };
    const filledIn = word.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name?: string) => {
      if (name === undefined) return "$";
      const value = values.get(name);
      const isElsewhere = hasMore || values.has(name) || OF_SERVICE.test(name);
      refuseLong(value?.text.length ?? whole.length);
      const field = fields.get(name);
      const isAddress = field !== undefined && ADDRESSES.includes(field);
      open.push(...(value?.open ?? [{ name, isElsewhere, isAddress, isField: field !== undefined }]));
      return value?.text ?? whole;
    });
    return { text: filledIn, open };
  };
  // One that comes from elsewhere hides what had its name before.
  for (const { name, value, valueFrom } of list(env).map(tree)) {
    values.set(text(name), valueFrom === undefined ? fill(text(value)) : undefined);
    const { fieldRef, resourceFieldRef } = tree(valueFrom);
    const field = text(tree(fieldRef).fieldPath);
    fields.delete(text(name));
    if (resourceFieldRef !== undefined || (field !== "" && !MAY_BE_EMPTY.test(field)))
      fields.set(text(name), field);
  }
  return fill;
}
const ADDRESSES = ["status.podIP", "status.hostIP"];
const MAY_BE_EMPTY = /^metadata\.(?:labels|annotations)/;

const LOCALHOST = /^(?:localhost|127(?:\.\d+){3}|::1|\[::1\])$/i;
const ANYWHERE = /^(?:|0\.0\.0\.0|::|\[::\])$/;
/** Only in its pod, or on its node. */
export const isLoopback = (host: string): boolean => LOCALHOST.test(host);

/** Where a server listens: on `all` addresses, `local`ly, on the `pod`'s, or the host as it is written. */
export function listensOn(host: string, open: readonly OpenVariable[]): string | Unread {
  if (ANYWHERE.test(host)) return "all";
  if (isLoopback(host)) return "local";
  const own = open.filter((one) => isIn(host, one));
  if (own.length > 0 && own.every(({ isAddress }) => isAddress)) return "pod";
  const isLiteral = own.length > 0 && own.every(({ isElsewhere }) => !isElsewhere);
  return isTemplate(host) && !isLiteral ? unread("placeholder", host, "--http-endpoint") : host;
}

export const servedBy = (
  { host = "", ...http }: NonNullable<WrittenSettings["http"]>,
  open: readonly OpenVariable[],
) => ({
  port: http.port,
  host: filled(host, "--http-endpoint"),
  on: looked(listensOn(host, open)),
  metricsPath: filled(http.metricsPath, "--metrics-path"),
});

export const isIn = (word: string, { name }: OpenVariable): boolean => word.includes(`$(${name})`);
export const messageIn = (start: Start): string => (start.kind === "refused" ? start.message : "");

/** Whether the registrar starts; a message is its own, and flags that it does not have are in the order in which it would name them. */
export type Start =
  | ReturnType<typeof askOfficial>
  | { readonly kind: "help" }
  | { readonly kind: "refused"; readonly message: string; readonly unknown: readonly string[] };

export interface WrittenSettings {
  readonly start: Start;
  /** Without it all that follows is empty. */
  readonly isParsed: boolean;
  readonly csiAddress: string;
  /** The former as it is written. */
  readonly dialed: string;
  readonly kubeletRegistrationPath: string;
  /** Undefined: it cannot parse the arguments, which may name any. */
  readonly pluginRegistrationPath: string | undefined;
  /** The HTTP endpoint; without a host it listens on all interfaces. */
  readonly http:
    | { readonly host: string | undefined; readonly port: number; readonly metricsPath: string }
    | undefined;
  /** What it has as the node's name; undefined: it needs none. One that is empty must be in its environment. */
  readonly nodeName: string | undefined;
  /** The words behind the flags, which the registrar ignores; and the switch before them, as if the first were its value. */
  readonly ignored:
    | { readonly words: readonly [string, ...string[]]; readonly behind: string | undefined }
    | undefined;
  /** Undefined: it does not start, or that depends on the program. */
  readonly mode: "one" | "node-wide" | "probe" | "print" | undefined;
  /** The argument whose log level is not filled in. */
  readonly openLevel?: string | undefined;
}

export const isStarting = ({ start, kubeletRegistrationPath: told }: WrittenSettings): boolean =>
  ["starts", "unclear"].includes(start.kind) && told !== "";

export type KnownStart = Exclude<Start, { readonly kind: "unclear" }>;
export type ToldPaths = Readonly<Record<"csiAddress" | "dialed" | "told", string>>;

/** What a container's arguments mean, by the registrar's own parser and checks, and by the official one's flags. */
export function settingsOf(args: readonly string[], program: Program): WrittenSettings {
  const words = args.map(withoutTemplates);
  const openLevel = args.find((word, at) => word !== words[at]);
  const settings = { ...ourSettings(words, program), openLevel };
  if (program.kind !== "official") return settings;
  const start = askOfficial(words, program.release);
  if (start.kind === "starts") return settings;
  return { ...settings, start, mode: start.kind === "unclear" ? settings.mode : undefined };
}

function ourSettings(words: readonly string[], { kind }: Program): WrittenSettings {
  const line = parseFlags(words);
  const refuse = (message: string, ...unknown: readonly string[]): Start => ({
    ...{ kind: "refused", message, unknown },
  });
  if (line.kind === "help") return { ...NOTHING, start: line, mode: "print" };
  if (line.kind === "error")
    return { ...NOTHING, start: refuse(line.message, ...[line.unknown ?? []].flat()) };
  // The official one makes its socket in / then.
  const root = kind === "official" && line.flags.pluginRegistrationPath === "" ? "/" : undefined;
  const flags = { ...line.flags, ...(root && { pluginRegistrationPath: root }) };
  const problem = startProblemOf(flags);
  const endpoint = problem === undefined ? endpointOf(flags) : undefined;
  return {
    start: problem === undefined ? STARTS : refuse(problem),
    isParsed: true,
    csiAddress: problem === undefined ? plainPath(parseCsiAddress(flags.csiAddress)) : flags.csiAddress,
    dialed: flags.csiAddress,
    kubeletRegistrationPath: flags.kubeletRegistrationPath,
    pluginRegistrationPath: plainPath(flags.pluginRegistrationPath),
    http: endpoint && { ...endpoint, metricsPath: flags.metricsPath },
    nodeName: kind !== "official" && wantsNodeReadiness(flags) ? flags.nodeName : undefined,
    ignored: ignoredOf(words, flags.rest),
    mode: modeOf(flags, kind),
  };
}

function modeOf(flags: Flags, kind: Program["kind"]): WrittenSettings["mode"] {
  if (flags.version) return "print";
  // The official one has this probe only, and registers in any other mode.
  const isOfficialProbe = flags.mode === OFFICIAL_PROBE_MODE;
  if (kind === "unknown" && isOfficialProbe !== isProbeMode(flags.mode)) return undefined;
  if (kind === "official" ? isOfficialProbe : isProbeMode(flags.mode)) return "probe";
  return [flags.csiAddress, flags.kubeletRegistrationPath].some(isPattern) ? "node-wide" : "one";
}

/** The words that end the flags, such as the next word of a switch. */
function ignoredOf(words: readonly string[], rest: readonly string[]): WrittenSettings["ignored"] {
  const [first, ...more] = rest;
  if (first === undefined) return undefined;
  const before = words[words.length - rest.length - 1] ?? "";
  const isSwitch = ACCEPTED_FLAGS.get(before.replace(/^--?/, ""))?.bare !== undefined && /^-/.test(before);
  return { words: [first, ...more], behind: isSwitch ? before : undefined };
}

/** An installer fills in a log level later: it counts as 2, so that the other arguments can be judged. */
function withoutTemplates(word: string): string {
  return word.replace(/^(--?v=)(?:\$[({].*|\{\{.*)$/, "$12");
}

const STARTS = { kind: "starts" } as const;

const NOTHING: WrittenSettings = {
  start: STARTS,
  isParsed: false,
  csiAddress: "",
  dialed: "",
  kubeletRegistrationPath: "",
  pluginRegistrationPath: undefined,
  http: undefined,
  nodeName: undefined,
  ignored: undefined,
  mode: undefined,
};

/** The last value of `--mode=VALUE` or `--mode VALUE`, also where this registrar does not have it. */
export function modeIn(words: readonly string[]): string {
  const modes = words.flatMap((word, at) => {
    const found = /^--?mode(?:=(.*))?$/s.exec(word);
    return found ? (found[1] ?? words[at + 1] ?? "") : [];
  });
  return modes.at(-1) ?? "";
}

/** Why the settings are not known. A variable from elsewhere matters only where its value decides a path, a refusal or the mode. */
export function unseenOf(
  { args, open }: Pick<ReturnType<typeof startOf>, "args" | "open">,
  settings: WrittenSettings,
  paths = [settings.csiAddress, settings.kubeletRegistrationPath, settings.pluginRegistrationPath ?? ""],
) {
  const { start, ignored } = settings;
  const message = messageIn(start);
  const [ends = ""] = ignored?.words ?? [];
  const mode = modeIn(args);
  const judged = [...paths, message, mode, ends];
  const found = open.find((one) => one.isElsewhere && judged.some((value) => isIn(value, one)));
  if (found !== undefined) return unread("elsewhere", found.name);
  if (isTemplate(ends)) return unread("argument", ends);
  if (isTemplate(withoutVariables(message))) return unread("argument", message);
  return isStarting(settings) && isTemplate(withoutVariables(mode))
    ? unread("argument", `--mode=${mode}`)
    : undefined;
}

/** Only kubelet fills in a `$(NAME)`, and leaves one without a value as it is. */
export const withoutVariables = (text: string): string => text.replaceAll(/\$\([^)]*\)/g, "");

/** The same for judges: an image need not say its release. */
export function lookOfProgram(program: Program) {
  if (program.kind === "unknown") return looked<KnownProgram | Unread>(UNKNOWN);
  if (program.kind === "ours") return looked<KnownProgram | Unread>(program);
  const release = looked(program.release ?? unread("placeholder", "", "its release"));
  return looked<KnownProgram | Unread>({ ...program, release });
}
export type KnownProgram =
  | Extract<Program, { readonly kind: "ours" }>
  | { readonly kind: "official"; readonly release: Seen<number> };
/** The check of each question says so. */
export const UNKNOWN = unread("placeholder", "");

/** Where a variable comes from: a field, or a key of another object. Throws for one of another type. */
function sourceOf(valueFrom: unknown): Tree {
  const source = tree(valueFrom);
  for (const one of Object.values(source).map(tree))
    for (const part of [one.fieldPath, one.name, one.key, one.resource]) text(part);
  return source;
}

/** Whether the environment has the node's name: an optional key, a label or a placeholder may be empty. */
export function knowsNodeName({ env, envFrom }: Tree): Truth {
  const named = list(env)
    .map(tree)
    .flatMap(({ name, value, valueFrom }) => {
      const { fieldRef, resourceFieldRef, ...keys } = sourceOf(valueFrom);
      const [own, path, written] = [text(name), text(tree(fieldRef).fieldPath), text(value)];
      const isSet = fieldRef !== undefined || Object.keys(keys).length > 0 || written !== "";
      if (!isSet || !(isTemplate(own) || NODE_NAME_VARIABLES.includes(own))) return [];
      const mayBeEmpty =
        Object.values(keys).some((key) => bool(tree(key).optional)) || MAY_BE_EMPTY.test(path);
      const open = [own, path, withoutVariables(written)].find(isTemplate);
      return { open: open ?? (mayBeEmpty ? own : undefined) };
    });
  if (named.some(({ open }) => open === undefined)) return truth(true);
  const open = named[0]?.open ?? (list(envFrom).map(tree).length > 0 ? "its envFrom" : undefined);
  return truth(open !== undefined && unread("placeholder", open).gap);
}
