import { attempt, refuse } from "../base/errors";
import { nearWord } from "../base/near-word";
import { quoteGo } from "../logging/escape";
import type { VmoduleRule } from "../logging/logging-options";
import { milliseconds, type OptionKind } from "../options/option-kinds";
import { type Flag, type FlagValues, fieldOf, joinedValue, OFFICIAL_PROBE_MODE, parseWords } from "./grammar";
import {
  parseBool,
  parseDurationMs,
  parseInt64,
  parseQuantity,
  parseVerbosity,
  parseVmodule,
} from "./values";

const rowOf =
  <Value>(parse: (text: string) => Value) =>
  (byDefault = "", describe = "") => ({ describe, default: byDefault, parse });
const string = rowOf((text) => text);
const duration = (byDefault: string, describe: string, kind?: OptionKind<number>) =>
  ({ ...rowOf(parseDurationMs)(byDefault, describe), ...(kind && { kind }), unit: "Ms" }) as const;
const wait = inSeconds(milliseconds({ orZero: true }), "a duration, 0s to 24 days");
const limit = inSeconds(milliseconds(), "a duration, more than 0s and at most 24 days");
const list = (describe: string) => ({
  ...string("", describe),
  join: (texts: readonly string[]): readonly string[] => texts.filter((text) => text !== ""),
});
const vmodule = (describe: string) => ({
  ...rowOf(parseVmodule)("", describe),
  join: (rules: readonly (readonly VmoduleRule[])[]) => rules.flat(),
});
const quantity = rowOf(parseQuantity);
const bool = (describe = "") => ({ ...rowOf(parseBool)("false", describe), bare: "true" });

/** Every flag, in the order of the help. The parser, the typed result and the help all read this one table. */
export const flagTable = {
  /** The official registrar's flags as of v2.17, with its meanings and defaults. */
  dropIn: {
    "csi-address": string("/run/csi/socket", "CSI driver socket as this container sees it"),
    "kubelet-registration-path": string("", "the same, as the host sees it; a pod needs it"),
    "plugin-registration-path": string("/registration", "directory for the registration socket"),
    timeout: duration("1s", "limit of a call and of /healthz", limit),
    "http-endpoint": string("", "health and metrics: :9809, localhost:9809"),
    "enable-pprof": bool("profiles there, at /debug/pprof/"),
    v: rowOf(parseVerbosity)("0", "verbosity: 2 names the driver, 5 each call"),
    vmodule: vmodule("verbosity by file, pattern=N,... (text only)"),
    "logging-format": string("text", "text or json"),
    "log-text-split-stream": bool("text: info lines go to stdout"),
    "log-json-split-stream": bool("json: info lines go to stdout"),
    "log-text-info-buffer-size": quantity("0", "no effect: nothing is buffered"),
    "log-json-info-buffer-size": quantity("0", "no effect: nothing is buffered"),
    "log-flush-frequency": duration("5s", "no effect: nothing is buffered"),
    automaxprocs: { ...bool("no effect: Node has no GOMAXPROCS"), parse: parseAutomaxprocs },
    version: bool("print name and version"),
  },
  /** Ours: without them the registrar behaves as a drop-in replacement. */
  ours: {
    "driver-gone-after": duration("30s", "with *: deregister a driver away this long", wait),
    "allow-drivers": string("", "with *: register only these, a,b=/path,..."),
    "deny-drivers": string("", "with *: do not register these, a,b,..."),
    "driver-timeout": duration("0s", "exit without a driver by then; 0: never", wait),
    "on-registration-failure": rowOf(parseRefusalPolicy)(
      "exit",
      "what to do when kubelet refuses the driver: exit, retry",
    ),
    "reregister-on-driver-restart": bool("register the driver again when it comes back"),
    "require-driver": bool("not ready without the driver"),
    "remove-startup-taint": list("startup taint to remove, repeatable"),
    "node-condition": string("", "type of the Node condition to keep"),
    "node-condition-delay": duration("30s", "delay before it turns False", wait),
    "node-name": string("", "Node name; else NODE_NAME, KUBE_NODE_NAME"),
    "metrics-path": string("/metrics", "path of the metrics"),
    "termination-log": string("/dev/termination-log", "file for the reason of a failure"),
    controllers: rowOf(parseControllers)("", "node-driver-registrar, as for csi-sidecars"),
    mode: rowOf(parseMode)("", "health-probe, ready-probe: ask the registrar that runs here, exit 0 or 1"),
  },
  /** Accepted with a warning that says what to use instead. */
  deprecated: {
    "health-port": rowOf(parseInt64)("0", "use --http-endpoint=:PORT"),
    "connection-timeout": duration("0s", "no effect; use --driver-timeout"),
  },
  /** Of earlier releases, accepted and ignored: klog's flags were removed in v2.11 (KEP-2845), kubeconfig in v1.0.2. */
  removed: {
    logtostderr: bool(),
    alsologtostderr: bool(),
    stderrthreshold: string(),
    log_dir: string(),
    log_file: string(),
    log_file_max_size: string(),
    log_backtrace_at: string(),
    skip_headers: bool(),
    skip_log_headers: bool(),
    add_dir_header: bool(),
    one_output: bool(),
    kubeconfig: string(),
  },
};

type Rows = typeof flagTable.dropIn & typeof flagTable.ours & typeof flagTable.deprecated;

export type FlagName = keyof Rows;

export interface Flags extends FlagValues<Rows> {
  /** The flags that were given, even with a value that equals the default. */
  readonly given: ReadonlySet<FlagName>;
  readonly ignored: readonly string[];
  /** Every value given. Only the last one counts, except for patterns with `*`. */
  readonly every: Readonly<Record<"csiAddress" | "kubeletRegistrationPath", readonly string[]>>;
  /** The words after the flags. The official registrar ignores them silently, and every flag after them. */
  readonly rest: readonly string[];
}

export const ACCEPTED_FLAGS: ReadonlyMap<string, Flag> = new Map(
  Object.entries<Flag>({
    ...{ ...flagTable.dropIn, ...flagTable.ours },
    ...{ ...flagTable.deprecated, ...flagTable.removed },
  }),
);

/** Throws INVALID_OPTION for a value that is not of its flag's kind. */
export function checkKinds(flags: Flags): void {
  for (const [name, row] of ACCEPTED_FLAGS) row.kind?.read(flags[fieldOf(name, row) as keyof Flags], name);
}

export function nearestFlag(unknown: string | undefined) {
  if (unknown === "endpoint") return "kubelet-registration-path"; // Its name in the library.
  return unknown === undefined ? undefined : nearWord(unknown, ACCEPTED_FLAGS.keys());
}

const { dropIn, ours, deprecated, removed } = flagTable;
const ROWS = Object.entries<Flag & { readonly default: string }>({ ...dropIn, ...ours, ...deprecated }).map(
  ([name, row]) => ({ name, row, field: fieldOf(name, row) }),
);

/** Reads the words after the program's name as the official registrar does, with its errors. Checks no flag with another. */
export function parseFlags(argv: readonly string[]) {
  const line = parseWords(argv, ACCEPTED_FLAGS);
  if (line.kind !== "parsed") return line;

  const given = (flag: string) => line.settings.filter(({ name }) => name === flag);
  const isGiven = (flag: string) => given(flag).length > 0;
  const values = ROWS.map(({ name, row, field }) => {
    const items = isGiven(name) ? given(name).map(({ value }) => value) : [row.parse(row.default)];
    return [field, joinedValue(row, items)];
  });
  const every = (flag: string) => given(flag).map(({ text }) => text);
  const flags: Flags = {
    ...(Object.fromEntries(values) as FlagValues<Rows>),
    given: new Set(ROWS.map(({ name }) => name as FlagName).filter(isGiven)),
    ignored: Object.keys(removed).filter(isGiven),
    every: { csiAddress: every("csi-address"), kubeletRegistrationPath: every("kubelet-registration-path") },
    rest: line.rest,
  };
  return { kind: "flags", flags } as const;
}

/** A duration is an option of the library in milliseconds, and a user gives it in Go's form. */
function inSeconds({ read }: OptionKind<number>, takes: string): OptionKind<number> {
  const accept = (given: unknown, name: string) =>
    attempt(() => read(given, name)) ?? refuse(`${name} is ${Number(given) / 1000}s; it takes ${takes}`);
  return { takes, read: accept };
}

const CONTROLLER = "node-driver-registrar";

/** The probes, with other programs' names for them. */
const PROBES: Readonly<Record<string, readonly string[]>> = {
  "health-probe": ["health", "healthz", "live", "livez", "liveness"],
  "ready-probe": ["ready", "readyz", "readiness"],
};
const MODES = [...Object.keys(PROBES), OFFICIAL_PROBE_MODE];

export const isProbeMode = (mode: string): boolean => MODES.includes(mode);

/** Any mode but a probe's is a normal run. A mistyped probe is refused: it would take the registration away. */
function parseMode(text: string): string {
  if (isProbeMode(text)) return text;
  const word = text.toLowerCase();
  const probe = MODES.find((mode) => PROBES[mode]?.includes(word)) ?? nearWord(word, MODES);
  if (probe !== undefined) return refuse(`did you mean ${probe}?`);
  return /probe$/i.test(text) ? refuse(`the probes are ${MODES.join(", ")}`) : text;
}

/** What the all-in-one sidecar would run (KEP-4958). A list with another sidecar is refused: nothing would run that one. */
function parseControllers(text: string): string {
  if (text === "" || text === CONTROLLER) return text;
  return refuse(`this program is ${CONTROLLER} alone: run the other sidecars from their own images`);
}

/** As csi-lib-utils handles `-automaxprocs`: an empty value means true, and the error is strconv's. */
function parseAutomaxprocs(text: string): boolean {
  return (
    attempt(() => parseBool(text || "true")) ??
    refuse(`strconv.ParseBool: parsing ${quoteGo(text)}: invalid syntax`)
  );
}

function parseRefusalPolicy(text: string): "exit" | "retry" {
  return text === "exit" || text === "retry" ? text : refuse("must be one of exit, retry");
}
