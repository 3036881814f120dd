import { OFFICIAL_PROBE_MODE } from "../../../../flags/grammar";
import { startProblemOf } from "../../../../flags/node-readiness";
import { endpointOf, wantsNodeReadiness } from "../../../../flags/start-options";
import { ACCEPTED_FLAGS, type Flags, isProbeMode, parseFlags } from "../../../../flags/table";
import { isPattern } from "../../../../host-path/path-pattern";
import { list, type Tree, text } from "../../../../kube-api/objects";
import { plainPath } from "../../../../unix/mounts";
import { pathInUnixAddress } from "../../../../unix/socket-path";
import { askOfficial, officialEndpointOf, officialProblemOf } from "../../../recognise/official";
import { behindRegistrar, type Program } from "../../../recognise/program";
import { isTemplate } from "../../../recognise/rule";
import { beyond, looked, type Seen, type Unread } from "../../findings/seen";
import { environmentOf, type FilledIn, isIn, type OpenVariable, withoutVariables } from "./environment";
import { filled, unread } from "./filled";

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
  /** What is not filled in, so that it may not start. */
  readonly open?: Unread | undefined;
  /** A finding says so. */
  readonly isSaid?: boolean;
  /** The same of its HTTP endpoint. */
  readonly openHttp?: Unread | undefined;
}

export const isStarting = ({ start, kubeletRegistrationPath: told }: WrittenSettings): boolean =>
  ["starts", "unclear"].includes(start.kind) && told !== "";

export type KnownStart = Exclude<Start, { readonly kind: "unclear" }>;
export type ToldPaths = Readonly<Record<"csiAddress" | "dialed" | "told", string>>;

/** What a container's arguments mean, by the registrar's own parser and checks, and by the official one's flags. */
export function settingsOf(
  args: readonly string[],
  program: Program,
  variables: readonly OpenVariable[],
): WrittenSettings {
  const { words, ...open } = withoutOpen(args, variables);
  const settings = { ...ourSettings(words, program), ...open };
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
  const isOfficial = kind === "official";
  const root = isOfficial && line.flags.pluginRegistrationPath === "" ? "/" : undefined;
  const flags = { ...line.flags, ...(root && { pluginRegistrationPath: root }) };
  const problem = isOfficial ? officialProblemOf(flags) : startProblemOf(flags);
  const endpoint =
    problem === undefined ? (isOfficial ? officialEndpointOf(flags) : endpointOf(flags)) : undefined;
  const path = pathInUnixAddress(flags.csiAddress);
  return {
    start: problem === undefined ? STARTS : refuse(problem),
    isParsed: true,
    csiAddress: problem === undefined && path !== undefined ? plainPath(path) : flags.csiAddress,
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

/** Flags whose values decide more than whether it starts: each is judged as it is written. */
const JUDGED = [
  ...[
    "csi-address",
    "kubelet-registration-path",
    "plugin-registration-path",
    "allow-drivers",
    "deny-drivers",
  ],
  ...["metrics-path", "mode", "version", "node-name", "remove-startup-taint", "node-condition"],
];
const OF_HTTP = ["http-endpoint", "health-port"];

/** A value that is filled in later counts as its flag's default, so that the other arguments can be judged. */
function withoutOpen(args: readonly string[], variables: readonly OpenVariable[]) {
  const words: string[] = [];
  const found: { readonly name: string; readonly by: Unread; readonly isSaid: boolean }[] = [];
  for (const [at, word] of args.entries()) {
    const [, last = ""] = /^--?([^=]*)$/.exec(args[at - 1] ?? "") ?? [];
    const isValue = takesNext(last);
    const [, name = last, value = word] = /^--?([^=]+)=(.*)$/s.exec(isValue ? "" : word) ?? [];
    const by = openIn(value, word, variables);
    const flag = ACCEPTED_FLAGS.get(name);
    const isKept =
      flag === undefined || JUDGED.includes(name) || (name === "http-endpoint" && /:\d+$/.test(value));
    const isSaid = !isKept && name !== "v";
    if (by !== undefined) found.push({ name, isSaid, by: isSaid ? by : UNSAID });
    words.push(by === undefined || isKept ? word : `${isValue ? "" : `--${name}=`}${flag.default}`);
  }
  const said = found.filter(({ isSaid }) => isSaid);
  const ofHttp = said.find(({ name }) => OF_HTTP.includes(name));
  return { words, open: (said[0] ?? found[0])?.by, isSaid: said.length > 0, openHttp: ofHttp?.by };
}
const takesNext = (name: string) => ACCEPTED_FLAGS.has(name) && ACCEPTED_FLAGS.get(name)?.bare === undefined;
/** Another check says it; or it is the log level, which the installers of many charts fill in. */
const UNSAID: Unread = { kind: "unread", gap: beyond("files") };

function openIn(value: string, word: string, variables: readonly OpenVariable[]): Unread | undefined {
  const elsewhere = variables.find((one) => one.isElsewhere && !one.isField && isIn(value, one));
  if (elsewhere !== undefined) return unread("elsewhere", elsewhere.name);
  return isTemplate(withoutVariables(value)) ? unread("argument", word) : undefined;
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
