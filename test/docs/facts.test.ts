import { readdirSync } from "node:fs";
import { join } from "node:path";
import { EXPECTED } from "../../bench/soak/logs";
import { engines } from "../../package.json";
import { METRICS } from "../../src/diagnostics/metric-table";
import { flagTable } from "../../src/flags/table";
import { KUBELET_ROOTS } from "../../src/host-path/kubelet-roots";
import { STATE_NAMES } from "../../src/registrar/model/state";
import { hintForRefusal } from "../../src/registrar/registration/hints";
import { NODE_LINES } from "../support/nodes";
import { EVENT_KINDS, leadsTo } from "../support/registration-states";
import { parse } from "../support/yaml";
import { codeIn, codeOf, fencesIn, isThere, ROOT, readText, rowsIn, SOURCE, sectionOf } from "./markdown";

test("the warnings that the soak test expects are in the source", () => {
  expect([...EXPECTED.keys()].filter((message) => !SOURCE.includes(message))).toEqual([]);
});

test("the alerts' table has every alert, and each names what to do", () => {
  const rules = parse(readText("examples/alerts.yaml")).spec.groups[0].rules as { readonly alert: string }[];
  const rows = rowsIn(sectionOf(readText("docs/operations.md"), "Alerts"));
  expect(rows.map(([alert]) => codeOf(alert))).toEqual(rules.map(({ alert }) => alert));
  for (const [, , advice = ""] of rows) expect(advice).not.toBe("");
});

test("the support policy names the Node that the package asks for, and those of the weekly tests", () => {
  const policy = readText("docs/compatibility.md").replace(/\s+/g, " ");
  expect(policy).toContain(`| ${engines.node.slice(2, -2)} or newer |`);
  expect(policy).toContain(`tests with ${NODE_LINES.slice(0, -1).join(", ")} and ${NODE_LINES.at(-1)}.`);
});

test("the map of the code has every folder, and none that is not there", () => {
  const rows = rowsIn(sectionOf(readText("CONTRIBUTING.md"), "Where things are"));
  const mapped = rows.map(([folder]) => codeOf(folder));
  expect(mapped.filter((folder) => !isThere(folder))).toEqual([]);
  const made = ["coverage/", "dist/", "node_modules/"];
  const folders = [...foldersIn(""), ...foldersIn("src/")].filter((folder) => !made.includes(folder));
  expect(mapped).toEqual(expect.arrayContaining(folders.filter((folder) => folder !== "src/")));
});

function foldersIn(parent: string): readonly string[] {
  return readdirSync(join(ROOT, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .filter(({ name }) => readdirSync(join(ROOT, parent, name)).length > 0)
    .map(({ name }) => `${parent}${name}/`);
}

const { dropIn, ours, deprecated, removed } = flagTable;

/** The flags of a table with their defaults, and those that the code has. */
function flagsUnder(page: string, heading: string, rows: object) {
  const text = readText(page);
  const defaultIn = (cell?: string) => (cell === "none" ? "" : codeOf(cell));
  const documented = rowsIn(sectionOf(text, heading)).map(([flag, cell]) => [codeOf(flag), defaultIn(cell)]);
  return { documented, wanted: Object.entries(rows).map(([name, row]) => [`--${name}`, row.default]) };
}

test("the migration guide has flags of the official registrar only, each with its default", () => {
  const official = { ...dropIn, ...deprecated, mode: ours.mode };
  const { documented, wanted } = flagsUnder("docs/migration.md", "Flag by flag", official);
  expect(documented.length).toBeGreaterThan(0);
  expect(wanted).toEqual(expect.arrayContaining(documented));
});

test("the tables of flags name each flag with its default, in the order of the help", () => {
  const { documented, wanted } = flagsUnder("docs/flags.md", "Flags", { ...dropIn, ...ours, ...deprecated });
  expect(documented).toEqual(wanted);
  const ignored = Object.keys(removed).map((name) => `--${name}`);
  expect(codeIn(readText("docs/flags.md"))).toEqual(expect.arrayContaining(ignored));
});

const metricRows = rowsIn(sectionOf(readText("docs/operations.md"), "Metrics")).map(
  ([name = "", labels = ""]) => ({ name: codeOf(name), labels: codeIn(labels) }),
);
/** The one metric that is not read from the status: prom-client keeps it. */
const HISTOGRAM = "csi_sidecar_operations_seconds";

test("the table of docs/operations.md has every metric with its labels, and no other", () => {
  const wanted = METRICS.map(({ name, labelNames = [] }) => `${name} ${labelNames}`);
  const documented = metricRows.filter(({ name }) => name !== HISTOGRAM);
  expect(documented.map(({ name, labels }) => `${name} ${labels}`).sort()).toEqual(wanted.sort());
});

test("the histogram of calls has the labels of its row in docs/operations.md", () => {
  const { labels = [] } = metricRows.find(({ name }) => name === HISTOGRAM) ?? {};
  expect(SOURCE).toContain(`labelNames = [${labels.map((label) => `"${label}"`).join(", ")}]`);
});

const howItWorks = readText("docs/how-it-works.md");

/** The arrows of the picture, as `from event to`; one from a group of states stands for one from each. */
function drawnArrows(picture: string): readonly string[] {
  const groups = new Map(
    Array.from(picture.matchAll(/state "[^"]*" as (\w+) \{(.*?)\}/gs), ([, name = "", inside = ""]) => {
      const ends = Array.from(inside.matchAll(/^ +(\w+) --> (\w+)/gm), ([, ...both]) => both);
      return [name, [...new Set(ends.flat())]];
    }),
  );
  const arrows = picture.matchAll(/^ +(\w+) --> (\w+) : (.+)$/gm);
  return Array.from(arrows).flatMap(([, from = "", to = "", events = ""]) =>
    (groups.get(from) ?? [from]).flatMap((one) => events.split(", ").map((event) => `${one} ${event} ${to}`)),
  );
}

test("docs/how-it-works.md has every state in order, and draws the arrows of the state machine", () => {
  const named = rowsIn(sectionOf(howItWorks, "The states")).map(([state]) => codeOf(state));
  expect(named).toEqual(STATE_NAMES);
  const [picture = ""] = fencesIn(howItWorks, "mermaid");
  const arrows = STATE_NAMES.flatMap((from) =>
    EVENT_KINDS.flatMap((kind) => {
      const to = leadsTo(from, kind);
      return to === undefined ? [] : [`${from} ${kind} ${to}`];
    }),
  );
  expect([...drawnArrows(picture)].sort()).toEqual(arrows.sort());
});

const troubleshooting = readText("docs/troubleshooting.md");
const quotedUnder = (heading: string) =>
  rowsIn(sectionOf(troubleshooting, heading)).flatMap(([message = ""]) => codeIn(message));

test("the source has every message of the table of log lines, and a hint for each refusal", () => {
  const pieces = quotedUnder("Log messages").flatMap((message) => message.split("…"));
  expect(pieces.filter((piece) => !SOURCE.includes(piece.trim()))).toEqual([]);
  const refusals = quotedUnder("Why kubelet refuses a driver");
  const hintFor = (text: string) => hintForRefusal(text, "/csi.sock");
  const UPDATE = "error updating CSINode";
  const isKnown = (text: string) =>
    hintFor(text) !== undefined || hintFor(`${UPDATE}: ${text} x`) !== hintFor(UPDATE);
  expect(refusals.filter((text) => !isKnown(text))).toEqual([]);
  expect(Math.min(pieces.length, refusals.length)).toBeGreaterThan(20);
});

test("docs/troubleshooting.md has the root directories of the hints", () => {
  const rows = rowsIn(sectionOf(troubleshooting, "Kubelet's root directory is elsewhere"));
  const folders = rows.map(([, folder]) => codeOf(folder));
  expect(folders).toEqual(expect.arrayContaining(Object.values(KUBELET_ROOTS)));
});

test("each state of a driver that is not registered has its next step", () => {
  const states = quotedUnder("A pod waits: driver name not found").filter((code) => /^[a-z]+$/.test(code));
  expect(states.sort()).toEqual(STATE_NAMES.filter((name) => !name.startsWith("stop")).sort());
});
