import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import dashboard from "../../examples/dashboard.json";
import { PUBLISH_REASONS, type PublishReason } from "../../src/registrar/model/state";
import { readText } from "../docs/markdown";
import { httpOf } from "../end-to-end/support/http";
import { nodeTest } from "../end-to-end/support/node";
import { driverFoldersOf, nameOf, reached, socketOf } from "../end-to-end/support/node-wide";
import { eventually } from "../support/eventually";
import { createGoBuilder } from "../support/go-build";
import { createTempFolder } from "../support/temp-folder";
import { parse } from "../support/yaml";

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const FOLDER = join(__dirname, "alerts");
const PROGRAM = join(__dirname, "bin", "alerts");
const { spec } = parse(readText("examples/alerts.yaml"));
const ALERTS: readonly string[] = spec.groups[0].rules.map(({ alert }: { readonly alert: string }) => alert);

/** A series of one sample a minute: in the notation of promtool's tests, `1x9` is ten times 1, `0+1x9` counts to 9, `_x9` is none. */
const of = (name: string, values: string, more = "") =>
  `${name}{namespace="csi",pod="nfs-1",node="n1",job="csi/nfs",driver_name="nfs.csi"${more}} ${values}`;
const built = (node: string, values: string) =>
  `registrar_build_info{namespace="csi",pod="on-${node}",node="${node}",job="csi/nfs"} ${values}`;
const published = (reason: string, values: string) =>
  of("registrar_publications_total", values, `,reason="${reason}"`);
const node = (name: string) => `kube_node_info{node="${name}"} 1x999`;

/** Each minute of `minutes`, what kube-state-metrics has of a container that lives for `livesSeconds`: 1 while it waits, else nothing. */
function crashLoop(livesSeconds: number, minutes: number): readonly string[] {
  const samples = Array.from({ length: minutes }, () => "_");
  // Kubelet waits 10 s after the first end, then twice as long each time, up to 5 minutes.
  for (let endedAt = livesSeconds, waits = 10; endedAt < minutes * 60; waits = Math.min(2 * waits, 300)) {
    for (
      let minute = Math.ceil(endedAt / 60);
      minute * 60 < Math.min(endedAt + waits, minutes * 60);
      minute++
    )
      samples[minute] = "1";
    endedAt += waits + livesSeconds;
  }
  return samples;
}
const waits = (container: string, samples: readonly string[], kind = "container") =>
  `kube_pod_${kind}_status_waiting_reason{namespace="csi",pod="nfs-1",container="${container}",reason="CrashLoopBackOff"} ${samples.join(" ")}`;

const registered = (values: string) => of("registrar_registered", values);
const connected = (values: string) => of("registrar_driver_connected", values);
const state = (name: string, values: string) => of("registrar_state", values, `,state="${name}"`);
const notices = (result: string, values: string) =>
  of("registrar_notices_total", values, `,result="${result}"`);
const trouble = (values: string) => of("registrar_driver_trouble", values, ',reason="no-answer"');
const overdue = (values: string) => of("registrar_startup_taint_overdue", values, ',taint="t"');

const REGISTRAR = "node-driver-registrar";
/** Minutes of three hours, which no period of a backoff divides. */
const WHILE_IT_CRASHES = [29, 47, 63, 64, 65, 66, 67, 97, 131, 180];
const THRICE = "7x9 8 9 10x60";
const [gone, stays] = [built("n1", "1x20 _x40"), built("n2", "1x60")];
const renamed = built("n1", "_x20 1x40").replace("on-n1", "new");

/** Reasons to publish the socket of a driver that kubelet has not registered. */
const UNREGISTERED: readonly PublishReason[] = ["driver-named", "kubelet-silent", "retry"];

/** What happens, for how many minutes, and whether the alert fires then. */
type Row = readonly [what: string, fires: boolean, minutes: number, ...series: readonly string[]];

const CASES: Readonly<Record<string, readonly Row[]>> = {
  CSIDriverNotRegistered: [
    ["not registered for 5 minutes", true, 5, registered("0x9")],
    ["not registered for 4 minutes", false, 4, registered("0x9")],
    ["registered again in between", false, 9, registered("0x4 1 0x9")],
    ["another registrar has it", false, 9, registered("0x9"), state("standby", "1x9")],
  ],
  CSIDriverRefused: [
    ["refused once", true, 16, notices("refused", "0x9 1x9")],
    ["refused 16 minutes ago", false, 16, notices("refused", "1x20")],
    ["registered once more", false, 16, notices("registered", "0x9 1x9")],
  ],
  CSIRegistrarRestarting: [
    ...[2, 120, 290].flatMap((lives) =>
      WHILE_IT_CRASHES.map(
        (minute): Row => [
          `lives ${lives} s, minute ${minute}`,
          true,
          minute,
          waits(REGISTRAR, crashLoop(lives, 190)),
        ],
      ),
    ),
    ["a native sidecar", true, 40, waits("registrar", crashLoop(2, 60), "init_container")],
    ["it waited once", false, 20, waits(REGISTRAR, ["_", "_", "1", ...Array(60).fill("_")])],
    ["for less than that", false, 14, waits(REGISTRAR, crashLoop(2, 60))],
    ["it runs again", false, 60, waits(REGISTRAR, [...crashLoop(2, 40), ...Array(30).fill("_")])],
    ["another container", false, 60, waits("liveness-probe", crashLoop(2, 90))],
    ["a name that only contains the letters", false, 60, waits("preregistrars", crashLoop(2, 90))],
  ],
  CSIRegistrarsUnseen: [
    ["the last one is gone for 15 minutes", true, 25, built("n1", "1x4 _x20")],
    ["for less than that", false, 18, built("n1", "1x4 _x20")],
    ["for longer than a day", true, 1_500, built("n1", "1x4 _x1500")],
    ["for longer than a day, until one is scraped again", false, 1_502, built("n1", "1x4 _x1495 1x9")],
    ["there never was one that can be seen", false, 60],
    ["one registrar", false, 20, built("n1", "1x20")],
  ],
  CSIRegistrarMissing: [
    ["one of two is gone", true, 45, gone, stays, node("n1")],
    ["for less than that", false, 30, gone, stays, node("n1")],
    ["its pod has another name now", false, 45, gone, renamed, stays, node("n1")],
    ["the node is gone, too", false, 45, gone, stays, node("n2")],
    ["uninstalled", false, 45, gone, built("n2", "1x20 _x40"), node("n1"), node("n2")],
    ["both are there", false, 45, built("n1", "1x60"), stays, node("n1"), node("n2")],
  ],
  CSIDriverNotRegistrable: [
    ["no answer for 10 minutes", true, 10, trouble("1x20")],
    ["no answer for 9 minutes", false, 9, trouble("1x20")],
  ],
  CSIRegistrationFlapping: [
    ...PUBLISH_REASONS.filter((reason) => !UNREGISTERED.includes(reason)).map(
      (reason): Row => [`6 times in an hour: ${reason}`, true, 60, published(reason, "7x9 8+1x5 13x60")],
    ),
    ...UNREGISTERED.map(
      (reason): Row => [`the driver was not registered: ${reason}`, false, 60, published(reason, "0+1x60")],
    ),
    ["6 times for two", true, 60, published("socket-gone", THRICE), published("reregister", THRICE)],
    ["5 times in an hour", false, 60, published("socket-gone", "7x9 8 9 10 11 12x60")],
  ],
  CSIDriverDisconnected: [
    ["no connection for 5 minutes", true, 5, connected("0x9")],
    ["no connection for 4 minutes", false, 4, connected("0x9")],
    ["no answer", false, 9, connected("0x9").replace("nfs.csi", "unknown-driver")],
  ],
  CSIRegistrarStandby: [
    ["standing by for 15 minutes", true, 15, state("standby", "1x20")],
    ["for 14 minutes", false, 14, state("standby", "1x20")],
    ["registered", false, 15, state("registered", "1x20")],
  ],
  CSIStartupTaintStays: [
    ["overdue for a minute", true, 1, overdue("1x9")],
    ["gone again", false, 9, overdue("1 0x9")],
  ],
};

const TABLE = Object.entries(CASES).flatMap(([alert, rows]) =>
  rows.map(([what, fires, minutes, ...series]) => ({ alert, what, fires, minutes, series })),
);

/** The alerts that fire at the end of each case, by Prometheus' own code. */
async function firing(groups: object, cases: readonly object[]): Promise<readonly (readonly Alert[])[]> {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("rules.json"), JSON.stringify(groups));
  const input = JSON.stringify(cases);
  const { stdout, stderr } = spawnSync(PROGRAM, [folder.at("rules.json")], { input, encoding: "utf8" });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

/** Those of each row. */
let fired: Awaited<ReturnType<typeof firing>> = [];

beforeAll(async () => {
  await createGoBuilder(FOLDER).build({
    what: "Prometheus' rules",
    ...{ file: PROGRAM, flags: ["-ldflags=-s -w"], packages: ".", isSource: () => true },
  });
  fired = await firing(spec, TABLE);
}, 900_000);

test.each(TABLE.map((row, at) => ({ ...row, at })))("$alert, $what: $fires", ({ alert, fires, at }) => {
  const found = fired[at]?.filter((one) => one.labels.alertname === alert);
  expect(found).toHaveLength(fires ? 1 : 0);
  // Every label that a text names is there.
  for (const text of Object.values(found?.[0]?.annotations ?? {}))
    expect(text).not.toMatch(/ {2}|\/\/?[ ;,.]|<no value>/);
});

test("each alert has a row in which it fires and one in which it does not", () => {
  expect(Object.keys(CASES)).toEqual(ALERTS);
  for (const rows of Object.values(CASES)) expect(new Set(rows.map(([, fires]) => fires)).size).toBe(2);
});

/** What Prometheus has after these scrapes of one pod, a minute apart. */
function scraped(bodies: readonly string[]): readonly string[] {
  const samples = bodies.map(
    (body) => new Map(Array.from(body.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm), readSample)),
  );
  const names = new Set(samples.flatMap((one) => [...one.keys()]));
  return Array.from(names, (name) => `${name} ${samples.map((one) => one.get(name) ?? "_").join(" ")}`);
}

/** A sample's series, with the labels of the PodMonitor's target, and its value. */
const readSample = ([, name, labels = "", value = ""]: RegExpMatchArray): [series: string, value: string] => [
  `${name}{namespace="csi",pod="registrar-1",node="n1",job="csi/registrar"${labels && `,${labels}`}}`,
  value,
];

nodeTest(
  "each query of the dashboard finds something in the metrics of a registrar that has had each trouble",
  async (node) => {
    const { add, registrar: start } = driverFoldersOf(node);
    const [once, lost] = [nameOf(0), nameOf(1)];
    const kubelet = await node.kubelet();
    const registrar = start(
      "--http-endpoint=localhost:0",
      "--on-registration-failure=retry",
      "--driver-gone-after=1h",
    );
    const http = await httpOf(registrar);
    const scrape = async () => (await http.get("/metrics")).body;
    const driver = await add(once);
    await add(lost);
    await add("failing", { faults: [{ kind: "error", method: "GetPluginInfo", code: "INTERNAL" }] });
    await Promise.all([reached(registrar, once, "registered"), reached(registrar, lost, "registered")]);
    await eventually(async () => expect(await scrape()).toContain('reason="no-answer"'));
    const before = await scrape();
    // One driver's socket is lost, and kubelet then refuses it; the other driver crashes.
    kubelet.setFaults([{ kind: "refuse", driverName: lost, error: "not this one" }]);
    rmSync(join(node.pluginDir, socketOf(lost)));
    await reached(registrar, lost, "refused");
    await driver.kill();
    await eventually(async () => expect(await scrape()).toMatch(/^registrar_driver_connected\{.*\} 0$/m));

    const queries = dashboard.panels.flatMap(({ title, targets }) =>
      targets.map(({ refId, expr }) => ({
        alert: `${title} ${refId}`,
        expr: expr.replaceAll("$driver", ".*").replaceAll("$__rate_interval", "4m"),
      })),
    );
    const nodes = ["n1", "n2"].map((name) => `kube_node_info{node="${name}"} 1 1`);
    const series = [...scraped([before, await scrape()]), ...nodes];
    const groups = { groups: [{ name: "dashboard", rules: queries }] };
    const [found = []] = await firing(groups, [{ minutes: 1, series }]);
    const answered = new Set(found.map(({ labels }) => labels.alertname));
    expect(queries.filter(({ alert }) => !answered.has(alert))).toEqual([]);
    // The node that has none, not the other one.
    expect(
      found.flatMap(({ labels: { alertname, node } }) =>
        alertname === "Nodes without a registrar A" && node ? [node] : [],
      ),
    ).toEqual(["n2"]);
    // The legends name labels that are there.
    for (const { title, targets } of dashboard.panels)
      for (const { refId, ...target } of targets)
        for (const [, label = ""] of ("legendFormat" in target ? target.legendFormat : "").matchAll(
          /\{\{(\w+)\}\}/g,
        ))
          for (const { labels } of found.filter(({ labels }) => labels.alertname === `${title} ${refId}`))
            expect(Object.keys(labels)).toContain(label);
  },
);
