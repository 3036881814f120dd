// The figures of the pages: `npm run pages` writes them, and test/docs/page-figures.test.ts fails if a page has another one.
//
// A comment before a figure names the constant of `src` that it is, such as `every <!--=POLL_EVERY_MS-->5 s`. The constant
// gives the number, the page the unit. A name in lower case is a fact about another program: `OTHERS` has it with its source.
// A region `<!-- costs: written by npm run pages -->` is made from the tables of docs/measurements.md, or from `src`. The end
// of a table that a measurement wrote has its checksum, so that nobody edits it by hand.
//
// npm run pages              writes the figures
// npm run pages -- --check   names what is not so, and exits with 1
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const read = (path) => readFileSync(join(ROOT, path), "utf8");

/** Facts about other programs, and settings that only pages recommend. Times in milliseconds, sizes in bytes. */
export const OTHERS = {
  /** csi-lib-utils, connection.go: the official registrar's connect ends after this. */
  "official.connect": 30_000,
  /** goroutinemap/exponentialbackoff, maxDurationBeforeRetry. */
  "kubelet.longest-backoff": 122_000,
  /** pkg/volume/csi/csi_plugin.go: the deadline of NodeGetInfo. */
  "kubelet.node-get-info": 120_000,
  /** pluginmanager/operationexecutor/operation_generator.go, notifyPlugin: the deadline of NotifyRegistrationStatus. */
  "kubelet.notify": 5_000,
  /** How long an API server takes until it applies a new admission policy, and what to wait then. */
  "api-server.policy": 2_000,
  "api-server.policy-wait": 5_000,
  /** DaemonSets of other projects: the memory limits that their charts fix. */
  "chart.mayastor-memory": "50Mi",
  "chart.small-memory": "32Mi",
  /** `/healthz` in the charts of Azure's drivers, NFS and SMB. */
  "chart.liveness-period": 20_000,
  /** gRPC's limit of a message, unless a client sets another. */
  "grpc.message": 4_194_304,
  /** RFC 9113, 6.5.2: SETTINGS_HEADER_TABLE_SIZE at first. */
  "http2.header-table": 4_096,
  /** Node's maxHeaderListPairs of HTTP/2: test/grpc/attacks.ts sends more. */
  "node.header-pairs": 128,
  /** What a socket of Node and its pipe hold before they are paused: test/grpc/server/bytes.test.ts. */
  "node.unread": 131_072,
  /** test/process/attacks.test.ts demands less. */
  "test.heap-left": 1_048_576,
};

/** What is not written as `const NAME = value`, or is in other files: the expression is the first group. */
const ELSEWHERE = {
  "flag.timeout-seconds": ["src/flags/table.ts", /^ +timeout: duration\("(\d+)s"/m],
  "kubelet-command.timeout-minutes": [
    "src/tools/simulate/kubelet.ts",
    /timeoutFlag\("end with 1.*?"(\d+)m"/s,
  ],
  "option.graceMs": ["src/serving/options.ts", /^ +graceMs: optional\(.*, ([\d_]+)\),$/m],
  "doctor.node-info": ["src/tools/doctor/node/read/calls.ts", /MAX_NODE_INFO = \{ "[\w.]+": (.+) \};$/m],
  "grpc.calls-at-once": ["src/grpc/server.ts", /max_concurrent_streams": (\d+)/],
  "alert.flapping": ["examples/alerts.yaml", /\[1h\]\)\) >= (\d+)$/m],
  "bench.for-good": ["bench/reliability/stage.ts", /^const FOR_GOOD_MS = (.*);$/m],
  ...Object.fromEntries(["daemonset", "node-wide"].flatMap(resources)),
};

/** The resources of the registrar's container, the first of an example. */
function resources(example) {
  const path = `examples/${example}.yaml`;
  const after = (part) => new RegExp(`resources:.*?${part}: *"?(\\d\\w*)`, "s");
  return [
    [`${example}.cpu-request`, [path, after("requests:.*?cpu")]],
    [`${example}.memory-request`, [path, after("requests:.*?memory")]],
    [`${example}.memory-limit`, [path, after("limits:.*?memory")]],
  ];
}

const DERIVED = {
  "file-call.limit": (lookup) => lookup("LIMIT_PARTS") * lookup("PART_MS"),
  "most-connections-for-a-moment": (lookup) => lookup("DEFAULT_GRPC_SERVER_LIMITS.maxConnections") * 2,
};

/** How long an alert waits, or the time that it looks back at, in minutes. */
function alertMinutes(name) {
  const rule = read("examples/alerts.yaml")
    .split("- alert: ")
    .find((text) => text.startsWith(`${name}\n`));
  return rule && (/^ +for: (\d+)m$/m.exec(rule) ?? /\[(\d+)m\]/.exec(rule))?.[1];
}

const sources = () =>
  readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => read(join("src", name)));

const ARITHMETIC = /^[\d_.\s*+()<-]+$/;

/** The value of an expression of literals: a number, or a text such as `64Mi`. */
function evaluate(expression, where) {
  // Of a list of paces the first.
  const text = /^"?(\d+(?:Mi|m))"?$/.exec(expression.trim());
  if (text) return text[1];
  if (!ARITHMETIC.test(expression)) throw new Error(`${where} is not a number or a text: ${expression}`);
  return Function(`"use strict"; return (${expression.replaceAll("_", "")});`)();
}

/** The expression after `NAME = `, or after `key: ` in the object literal of that name. */
function expressionOf(source, name) {
  const [constant, ...keys] = name.split(".");
  const start = new RegExp(`^(?:export )?const ${constant}(?:: [^=\\n]+)? = `, "m").exec(source);
  if (!start) return undefined;
  let rest = source.slice(start.index + start[0].length);
  for (const key of keys) {
    const found = new RegExp(`(?<![\\w.])${key}: `).exec(rest);
    if (!found) return undefined;
    rest = rest.slice(found.index + found[0].length);
  }
  return /^\[?([^,;}\]\n]*)/.exec(rest)?.[1];
}

/** What a name of a page's comment stands for. Throws where `src` has no such constant, or several that differ. */
export function createLookup(texts = sources()) {
  const known = new Map();
  const lookup = (name) => {
    if (!known.has(name)) known.set(name, find(name));
    return known.get(name);
  };
  const find = (name) => {
    if (name in OTHERS) return OTHERS[name];
    if (name in DERIVED) return DERIVED[name](lookup);
    const [file, pattern] = ELSEWHERE[name] ?? [];
    const alert = name.startsWith("alert-minutes.") && alertMinutes(name.slice("alert-minutes.".length));
    const elsewhere = file ? pattern.exec(read(file))?.[1] : alert;
    const found = elsewhere ? [elsewhere] : texts.flatMap((text) => expressionOf(text, name) ?? []);
    const resolved = found.map((text) => text.replace(/\b[A-Z][A-Z_]+\b/g, (constant) => lookup(constant)));
    const values = new Set(resolved.map((expression) => evaluate(expression, name)));
    if (values.size !== 1) throw new Error(`src has ${values.size} values of ${name}: a page needs one`);
    return [...values][0];
  };
  return lookup;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** What one of a unit is: in milliseconds, or in bytes. A page says kB and MB of powers of 1,024, as other programs do. */
const UNITS = {
  ms: 1,
  s: SECOND,
  second: SECOND,
  min: MINUTE,
  minute: MINUTE,
  h: 60 * MINUTE,
  hour: 60 * MINUTE,
  day: 24 * 60 * MINUTE,
  byte: 1,
  kB: 2 ** 10,
  KiB: 2 ** 10,
  MB: 2 ** 20,
  MiB: 2 ** 20,
};
const UNIT = Object.keys(UNITS).join("|");
const NUMBER = String.raw`\d[\d,]*(?:\.\d+)?`;
/** A comment, and the figure behind it; the second unit is that of `2 min 2 s`. */
const MARKED = new RegExp(
  `<!--=(?<name>[\\w.-]+)-->(${NUMBER})(Mi|m(?![a-z]))?(?: ?(${UNIT})(s?)(?: (${NUMBER}) (${UNIT})(?![\\w]))?(?![\\w]))?`,
  "g",
);

const digits = (number, like) => {
  const rounded = Number(number.toPrecision(6));
  return like.includes(",") ? rounded.toLocaleString("en") : String(rounded);
};

/** The figure of a page, with the value of its constant. */
function written([, name, number, suffix, unit, plural = "", , second], value) {
  const mark = `<!--=${name}-->`;
  if (suffix !== undefined || typeof value === "string")
    return `${mark}${typeof value === "string" ? value : `${value}${suffix}`}`;
  if (unit === undefined) return mark + digits(value, number);
  const inMilliseconds =
    value * (/seconds$/i.test(name) ? SECOND : /minutes(?:$|\.)/i.test(name) ? MINUTE : 1);
  if (unit === "day") return `${mark}${Math.floor(inMilliseconds / UNITS.day)} ${unit}${plural}`;
  if (second === undefined) return `${mark}${digits(inMilliseconds / UNITS[unit], number)} ${unit}${plural}`;
  const whole = Math.floor(inMilliseconds / UNITS[unit]);
  const rest = (inMilliseconds - whole * UNITS[unit]) / UNITS[second];
  return `${mark}${whole} ${unit}${rest === 0 ? "" : ` ${digits(rest, number)} ${second}`}`;
}

/** The page with the figures of the code. */
export const withFigures = (page, lookup) =>
  page.replace(MARKED, (...match) => written(match, lookup(match[1])));

const REGION =
  /(?<=<!-- (costs|gains|paces): written by npm run pages -->\n\n).*?(?=\n\n<!-- end of \1 -->)/gs;

/** The cells of a row of a Markdown table by its first cell. */
function rowOf(page, label, column = 0) {
  const rows = page.split("\n").filter((line) => line.startsWith("| "));
  const cells = rows.map((row) =>
    row
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim()),
  );
  const found = cells.find((row) => row[column] === label);
  if (!found) throw new Error(`docs/measurements.md has no row "${label}"`);
  return found;
}
const figureIn = (cell) => /^\S+(?: (?:ms|s|MB))?(?= |,|$)/.exec(cell)[0];
const times = (one, other) => `${(parseFloat(one) / parseFloat(other)).toFixed(1)} times`;

/** The tables of the README: what registrar gives, and what it costs, beside the official one. */
function costs({ measurements }) {
  const bench = (label) => rowOf(measurements, label).slice(1, 3).map(figureIn);
  const pull = (label) => `${rowOf(measurements, label)[1]} MB`;
  const compared = (what, [ours, theirs]) => [what, ours, theirs, times(ours, theirs)];
  return table(
    ["", "registrar", "official v2.17", "ratio"],
    compared("anonymous memory at rest", bench("one driver, at rest, anonymous memory")),
    compared("start", bench("exec to socket accepting")),
    compared("start, CPU limit 100m", bench("exec to socket accepting, CPU limit 100m")),
    compared(
      "CPU an hour, with probes and scrapes",
      bench("asked for /healthz every 10 s and /metrics every 30 s, CPU seconds an hour"),
    ),
    compared("image to pull, gzip", [pull("registrar, gzip"), pull("official, gzip")]),
  );
}

function gains({ measurements }) {
  const gain = (what, label) => {
    const [, , ours, , official, , probed] = rowOf(measurements, label);
    const cell = (text) => text.replaceAll("**", "").replace(/^([\d.]+)(?: \(.*\))?$/, "$1 s");
    return [what, ...[ours, official, probed].map(cell)];
  };
  return table(
    ["Until the driver is registered again", "registrar", "official v2.17", "with a liveness probe"],
    gain("the registration socket is removed", "the socket is removed"),
    gain(
      "the older one of two registrars of the driver ends",
      "two registrars of one driver, the older one gets SIGTERM",
    ),
    gain(
      "a reboot, and the driver starts 105 s after kubelet",
      "reboot, a dead socket is left; driver and registrar start 105 s after kubelet",
    ),
    gain("kubelet restarts", "kubelet is killed and restarts"),
  );
}

/** What is tried again, by the name of its pace in `BACKOFF`. */
const PACES = {
  connect: "connecting to the driver's socket",
  askDriver: "GetPluginInfo",
  incompleteDriver: "GetPluginInfo after UNIMPLEMENTED",
  unfitDriver: "GetPluginInfo after INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED",
  publish: "publishing a socket after a failure",
  refused: "publishing under another name after a refusal, with `retry`",
  refusedForLong: "the same, after FIRST_REFUSALS refusals",
  lostStatus: "publishing again when kubelet disconnects without a status",
  failedDriver: "node-wide: a driver whose registration failed",
  apiServer: "a request to the API server",
  apiRefusal: "the same, which the API server refuses (401, 403)",
  unlistedDriver: "reading CSINode, which does not list a registered driver yet",
  reregistration: "registering a driver again that CSINode lacks",
  taintFight: "removing a taint that another client adds again",
  conditionFight: "writing a condition that another client changes",
};

function paces({ lookup }) {
  const rows = Object.entries(PACES).map(([name, what]) => [
    what.replace(/[A-Z]+_[A-Z]+(?=\b)/, (constant) =>
      constant === "FIRST_REFUSALS" ? lookup(constant) : constant,
    ),
    inWords(lookup(`BACKOFF.${name}.initialMs`)),
    inWords(lookup(`BACKOFF.${name}.maxMs`)),
  ]);
  return table(["What is tried again", "First wait", "Longest wait"], ...rows);
}

function inWords(ms) {
  const [unit, size] =
    ms < SECOND
      ? ["ms", 1]
      : ms < MINUTE
        ? ["s", SECOND]
        : ms < 60 * MINUTE
          ? ["min", MINUTE]
          : ["h", 60 * MINUTE];
  return `${ms / size} ${unit}`;
}

const table = (head, ...rows) =>
  [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`.replace("|  |", "| |"))
    .join("\n");

const REGIONS = { costs, gains, paces };

export const withRegions = (page, sources) => page.replace(REGION, (_, name) => REGIONS[name](sources));

/** The checksum that stands at the end of a measured table. */
export const checksumOf = (figures) => createHash("sha256").update(figures.trim()).digest("hex").slice(0, 8);

const MEASURED = /<!-- figures: written by (.*?) -->(.*?)<!-- end of figures(?: (\w+))? -->/gs;
const NO_PROSE = new RegExp(
  String.raw`<!-- (\S+): written by .*?<!-- end of \1.*? -->|^\s*\`\`\`.*?^\s*\`\`\`$|\`[^\`\n]*\`|\]\([^)]*\)|${MARKED.source}`,
  "gms",
);
/** What pages count: a number of these is a figure, too. */
const COUNTED =
  "(?: of these)? conditions|changes|documents|each|letters|merged keys|more|requests|rows|times(?! bare)";
const FIGURE = new RegExp(
  `(?<![\\w.,/-])${NUMBER}(?: (?:to|and) ${NUMBER})?(?<!,) ?(?:${UNIT}|Mi|m|%|${COUNTED})s?(?![\\w-])`,
  "g",
);

/** What is wrong with the figures of a page, one line each. */
export function problemsOf(path, page, sources) {
  const measured = Array.from(page.matchAll(MEASURED)).flatMap(([, command, figures, sum]) =>
    sum === checksumOf(figures) ? [] : [`${path}: a table is not as "${command}" wrote it`],
  );
  const prose = page.replace(NO_PROSE, (text) => text.replace(/[^\n]/g, " "));
  const loose = Array.from(prose.matchAll(FIGURE), ({ 0: figure, index }) => {
    const line = prose.slice(0, index).split("\n").length;
    return `${path}:${line}: "${figure}" names no constant: write <!--=NAME--> before it`;
  });
  const made = withRegions(withFigures(page, sources.lookup), sources).split("\n");
  const changed = page
    .split("\n")
    .flatMap((line, at) =>
      line === made[at] ? [] : [`${path}:${at + 1}: run npm run pages, which writes: ${made[at]}`],
    );
  return [...measured, ...loose, ...changed];
}

export const PAGES = ["README.md", ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`)].filter(
  (name) => name.endsWith(".md") && name !== "docs/api.md",
);

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const sources = { lookup: createLookup(), measurements: read("docs/measurements.md") };
  const isCheck = process.argv.includes("--check");
  for (const path of PAGES) {
    const page = read(path);
    if (!isCheck) writeFileSync(join(ROOT, path), withRegions(withFigures(page, sources.lookup), sources));
    for (const line of isCheck ? problemsOf(path, page, sources) : []) {
      process.stdout.write(`${line}\n`);
      process.exitCode = 1;
    }
  }
  if (!isCheck)
    (await import("./node-closure.mjs")).writeClosure(await (await import("./cli-parts.mjs")).readClosure());
}
