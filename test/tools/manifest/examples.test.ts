import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import dashboard from "../../../examples/dashboard.json";
import { METRICS, metricRows } from "../../../src/diagnostics/metric-table";
import { showNodeReadiness } from "../../../src/diagnostics/node-readiness";
import { readYaml } from "../../../src/kube-api/yaml";
import { makeManifests } from "../../../src/tools/manifest/objects";
import { scalar, yaml } from "../../../src/tools/manifest/template";
import { anchorsIn, readText } from "../../docs/markdown";
import { createTempFolder } from "../../support/temp-folder";
import { parse, parseAll } from "../../support/yaml";

const { homepage, version } = JSON.parse(readText("package.json"));

interface Named {
  readonly name: string;
}
/** What `registrar manifest` writes for the driver of `examples/daemonset.yaml`. */
const write = (image = "registrar:v0.1.0", more = {}) =>
  makeManifests({
    ...{ driverName: "hostpath.csi.k8s.io", name: "csi-hostpath-node", image },
    ...{ driverImage: "hostpathplugin:v1", ...more },
  });

test("the node-wide DaemonSet is that of examples/node-wide.yaml", () => {
  const written = makeManifests({ nodeWide: true, image: "registrar:v0.1.0" });
  expect(parse(written)).toEqual(parse(readText("examples/node-wide.yaml")));
});

test("the DaemonSet has the registrar, the labels and the pod settings of examples/daemonset.yaml", () => {
  const exampleText = readText("examples/daemonset.yaml");
  const image = /image: (registrar:\S+)/.exec(exampleText)?.[1] ?? "";
  const example = parseAll(exampleText)[1];
  const written = parse(write(image));
  const registrarOf = ({ spec }: typeof written) =>
    spec.template.spec.containers.find(({ name }: Named) => name === "registrar");
  expect(registrarOf(written)).toEqual(registrarOf(example));

  const { containers: _, volumes, ...pod } = written.spec.template.spec;
  expect(example.spec.template.spec).toMatchObject(pod);
  for (const volume of volumes) expect(example.spec.template.spec.volumes).toContainEqual(volume);
  const { template: __, ...spec } = written.spec;
  expect(example.spec).toMatchObject(spec);
  expect(written.metadata).toEqual(example.metadata);
});

test("all objects are one valid stream of documents", () => {
  const text = write(undefined, { startupTaint: ["a/b"], nodeCondition: "a/c", distribution: "openshift" });
  expect(parseAll(text)).toHaveLength(7);
});

const TEXTS = [
  ...["a", "-x", "--v=5", "--endpoint=unix:///csi/csi.sock", "$(NODE_NAME)", "", "-", "---", "- a", "a:"],
  ...["a: b", "a #b", "*a", "&a", "!a", "{a", "[a", "'a", '"a', "\\", "a\nb", "~", "null", "0.5", ".inf"],
  ...["1:30", "é", "y", "on", "off", "no", "1e3", "0x1f", "12345"],
];

test.each(TEXTS)("%j is the same text in YAML 1.1", (text) => {
  expect(readYaml(`a: ${scalar(text)}\nb:\n  - ${scalar(text)}\n`)).toEqual({
    a: text,
    b: [text],
  });
});

test("false and undefined leave out the line on which they are alone, and nothing else does", () => {
  const { lines } = yaml`
    a: ${false}
    ${false}
    ${undefined}
    ${false} b
    ${0}
      ${yaml`b: ${true}`}
  `;
  expect(lines).toEqual(["a: false", "false b", "0", "  b: true"]);
});

test("only texts that need quotes are quoted", () => {
  expect(["-x", "balloon", "offer", "/csi/csi.sock"].map(scalar).join(" ")).not.toContain('"');
});

const DRIVER = { driverName: "x.csi", image: "a", driverImage: "b" };

test.each([[[]], [["a", "- b"]]])(
  "the driver's arguments are %j, and what YAML 1.1 reads as a boolean is quoted",
  (driverArg) => {
    const text = makeManifests({ ...DRIVER, driverArg, name: "y", namespace: "on" });
    expect(parse(text).spec.template.spec.containers[1].args).toEqual(driverArg);
    expect(text).toMatch(/name: "y"\n *namespace: "on"/);
  },
);

describe("the alerts", () => {
  const { groups } = parse(readText("examples/alerts.yaml")).spec;
  interface Rule extends Readonly<Record<"alert" | "expr", string>> {
    readonly labels: { readonly severity: string };
    readonly annotations: Readonly<
      Record<"summary" | "description" | "runbook_url" | "dashboard_url", string>
    >;
  }
  const rules: readonly Rule[] = groups[0].rules;
  /** `registrar_state{state="standby"}`: name and what is selected. */
  const selectorsIn = (expr: string) => Array.from(expr.matchAll(/(registrar_\w+)(?:\{([^}]*)\})?/g));

  test("know only metrics and labels that the registrar has, as does the dashboard", () => {
    const queries = dashboard.panels.flatMap(({ targets }) => targets);
    const { metrics: ofNodeReadiness } = showNodeReadiness(undefined as never);
    const selectors = [...rules, ...queries].flatMap(({ expr }) => selectorsIn(expr));
    for (const [, name, selection = ""] of selectors) {
      const metric = [...METRICS, ...metricRows(ofNodeReadiness)].find((one) => one.name === name);
      expect(metric?.name).toBe(name);
      for (const [, label] of selection.matchAll(/(\w+)!?=/g)) expect(metric?.labelNames).toContain(label);
    }
  });

  test("each has a runbook, a section of our docs below the package's homepage, and our dashboard", () => {
    for (const { annotations } of rules) {
      expect(annotations.dashboard_url.replace(/\?.*/, "")).toBe(`/d/${dashboard.uid}`);
      const pages = `${homepage}/blob/v${version}/docs/`;
      expect(annotations.runbook_url.startsWith(pages)).toBe(true);
      const [page = "", anchor] = annotations.runbook_url.slice(pages.length).split("#");
      expect(anchorsIn(readText(`docs/${page}`))).toContain(anchor);
    }
  });

  test("cover what can go wrong with a registration, and name the driver and the node", () => {
    expect(rules).toHaveLength(10);
    for (const { alert, labels, annotations } of rules) {
      expect(["critical", "warning"]).toContain(labels.severity);
      if (/RegistrarRestarting|RegistrarsUnseen|RegistrarMissing|NotRegistrable/.test(alert)) continue;
      expect(annotations.summary).toMatch(/labels\.driver_name .*labels\.node /);
      expect(annotations.description).toContain("{{ $labels.pod }}");
    }
  });
});

const TYPES = require.resolve("@grafana/schema/package.json").replace("package.json", "dist/types/index");

test("the dashboard is a value of Grafana's own type, as the compiler sees it", async () => {
  await using folder = await createTempFolder();
  const text = readText("examples/dashboard.json");
  const source = `import type { Dashboard } from "${TYPES}";\nexport const dashboard: Dashboard = ${text};\n`;
  writeFileSync(folder.at("dashboard.ts"), source);
  const flags = "--noEmit --strict --skipLibCheck --ignoreConfig --module nodenext --singleThreaded";
  const words = [...flags.split(" "), folder.at("dashboard.ts")];
  expect(spawnSync("node_modules/.bin/tsc", words, { encoding: "utf8" }).stdout).toBe("");
});

test("no panel covers another, and none leaves Grafana's 24 columns", () => {
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  for (const { gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
});
