import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { CHARTS } from "../../src/doctor/manifest/read/charts";
import { flagTable } from "../../src/flags/table";
import { DEPLOYMENTS } from "../charts/deployments";
import { NODE_LINES } from "../matrix/nodes";
import { createTempFolder } from "../support/temp-folder";
import { codeIn, codeOf, isThere, ROOT, readText, rowsIn, SOURCE, sectionOf } from "./markdown";

test("the migration guide has every flag of the official registrar, with its default", () => {
  const text = readText("docs/migration.md");
  const { dropIn, deprecated, removed, ours } = flagTable;
  const official = { ...dropIn, ...deprecated, mode: ours.mode };
  const guide = rowsIn(sectionOf(text, "Flag by flag")).map(([flag, byDefault]) => [
    codeOf(flag),
    byDefault === "none" ? "" : codeOf(byDefault),
  ]);
  expect(guide.sort()).toEqual(
    Object.entries(official)
      .map(([name, row]) => [`--${name}`, row.default])
      .sort(),
  );
  expect(codeIn(text)).toEqual(expect.arrayContaining(Object.keys(removed).map((name) => `--${name}`)));
});

test("the table of charts is what npm run charts writes from its data, and no cell ends the row", async () => {
  await using folder = await createTempFolder();
  execFileSync(process.execPath, ["scripts/charts.mjs", folder.at("charts.md")], { cwd: ROOT });
  const page = readText("docs/charts.md");
  expect(page).toBe(readFileSync(folder.at("charts.md"), "utf8"));
  const rows = rowsIn(sectionOf(page, "The values of each chart"));
  expect(rows.map(([chart]) => /^\[(\S+)\]/.exec(chart ?? "")?.[1])).toEqual(
    CHARTS.map(({ chart }) => chart),
  );
  expect(new Set(rows.map((cells) => cells.length))).toEqual(new Set([4]));
  expect(readText("CHANGELOG.md")).toContain(`the values of ${CHARTS.length} charts`);
});

test("the alerts' table has every alert, and each names what to do", () => {
  const rules = parse(readText("examples/alerts.yaml")).spec.groups[0].rules as { readonly alert: string }[];
  const rows = rowsIn(sectionOf(readText("docs/operations.md"), "Alerts"));
  expect(rows.map(([alert]) => codeOf(alert))).toEqual(rules.map(({ alert }) => alert));
  for (const [, , advice = ""] of rows) expect(advice).not.toBe("");
});

test("the guide to node-wide mode counts the deployments that its pattern fits", () => {
  const fitting = DEPLOYMENTS.filter(({ args, env = {} }) =>
    args
      .map((arg) => arg.replace(/\$\((\w+)\)/g, (_, name: string) => env[name] ?? ""))
      .some((arg) => /^(?:-.*=)?\/var\/lib\/kubelet\/plugins\/[^/]+\/csi\.sock$/.test(arg)),
  );
  const text = readText("docs/node-wide.md").replace(/\s+/g, " ");
  expect(text).toContain(
    `Of ${DEPLOYMENTS.length} deployments of CSI drivers that we collected, ${fitting.length} have`,
  );
});

test("the guide to node-wide mode quotes what is said of bad patterns", () => {
  const rows = rowsIn(sectionOf(readText("docs/node-wide.md"), "The pattern"));
  expect(rows.length).toBeGreaterThan(0);
  for (const [, message] of rows) expect(SOURCE).toContain(codeOf(message));
});

test("the support policy names the Node that the package asks for", () => {
  const { engines } = JSON.parse(readText("package.json")) as { readonly engines: { readonly node: string } };
  const [, oldest = "none"] = /^>=(\d+\.\d+)\.0$/.exec(engines.node) ?? [];
  expect(readText("SECURITY.md")).toContain(`Node ${oldest} or newer`);
});

test("the support policy names the Nodes of the matrix", () => {
  const nodes = `${NODE_LINES.slice(0, -1).join(", ")} and ${NODE_LINES.at(-1)}`;
  expect(readText("SECURITY.md").replace(/\s+/g, " ")).toContain(`tests with ${nodes}.`);
});

test("the map of the code has every folder, and none that is not there", () => {
  const mapped = rowsIn(sectionOf(readText("CONTRIBUTING.md"), "Where things are")).map(([folder]) =>
    codeOf(folder),
  );
  expect(mapped.filter((folder) => !isThere(folder))).toEqual([]);
  const made = ["coverage/", "dist/", "node_modules/"];
  const folders = [...foldersIn(""), ...foldersIn("src/")].filter((folder) => !made.includes(folder));
  expect(mapped).toEqual(expect.arrayContaining(folders.filter((folder) => folder !== "src/")));
});

/** The folders in one, as the map writes them, except hidden ones and empty ones, which git does not know. */
function foldersIn(parent: string): readonly string[] {
  return readdirSync(join(ROOT, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .filter(({ name }) => readdirSync(join(ROOT, parent, name)).length > 0)
    .map(({ name }) => `${parent}${name}/`);
}
