import type { ClusterReport } from "../../../../src/tools/doctor/cluster/report";
import { renderClusterTable } from "../../../../src/tools/doctor/cluster/table";
import { literal } from "../../../../src/tools/manifest/image-policy/recognise";
import { daemonSet } from "../../../support/cluster-objects";
import { makeCluster, WELL } from "./memory-cluster";
import { deploy, FILES } from "./sick-cluster";

type Change = { readonly args?: readonly string[] } & Readonly<Record<string, unknown>>;

/** The pods of a DaemonSet whose registrar and driver have these fields, beside one that serves to all. */
async function clusterWith(registrar: Change, pod: object = {}, driver: object = {}) {
  const cluster = await makeCluster({ podsOn: [] });
  const set = daemonSet(FILES);
  const { spec } = set.spec.template;
  const [own, beside] = spec.containers;
  const args = [...(own?.args ?? []), ...(registrar.args ?? [])];
  Object.assign(own ?? {}, registrar, { args });
  Object.assign(beside ?? {}, driver);
  Object.assign(spec, pod);
  await deploy(cluster, set, ["node-1"], () => WELL);
  return cluster;
}
const LOOK = { width: 200, colors: false };
const OPEN = "--http-endpoint=:9809";
const port = { ports: [{ name: "registrar", containerPort: 9809 }] };
const onHost = { hostNetwork: true };
const sidecar = { name: "sidecar", image: "sidecar:v1", args: ["--v=2"], restartPolicy: "Always" };
const official = { image: "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0" };

type Row = readonly [cell: string, changes: Parameters<typeof clusterWith>];

test.each<Row>([
  [":9809/metrics", [{ args: [OPEN], ...port }]],
  [":9809/metrics", [{ args: ["--health-port=9809"], ...port }]],
  [":9809/metrics (port healthz)", [{ args: [OPEN], ports: [{ ...port.ports[0], name: "healthz" }] }]],
  [":9809/metrics (no named port)", [{ args: [OPEN] }]],
  [":9809/m (no named port)", [{ args: [OPEN, "--metrics-path=/m"], ports: [{ containerPort: 9809 }] }]],
  [":9809/metrics (no named port)", [{ args: [OPEN], ports: [{ name: "other", containerPort: 1 }] }]],
  [":9809/metrics", [{ args: [OPEN] }, { initContainers: [{ ...sidecar, ...port }] }]],
  ...["10.0.0.1", "localhost.example.com", "1270.example.com", "[::12]"].map(
    (host): Row => [`${host}:9809/metrics`, [{ args: [`--http-endpoint=${host}:9809`], ...port }]],
  ),
  ["none", [{}]],
  ["none", [{}, onHost]],
  ...["localhost", "127.0.0.1", "[::1]"].flatMap((host): readonly Row[] => {
    const registrar = { args: [`--http-endpoint=${host}:9809`], ...port };
    const proxy = (url: string) => ({ args: ["--logtostderr", `--upstream=http://${url}/`] });
    const cell = `${host}:9809/metrics`;
    return [
      [`${cell} (to its own pod only)`, [registrar]],
      [`${cell} (to its own pod only)`, [registrar, {}, proxy("127.0.0.1:98090")]],
      [`${cell} (to its node only)`, [registrar, onHost]],
      [cell, [registrar, { initContainers: [sidecar] }, proxy(`${host}:9809`)]],
    ];
  }),
  // Not known: a shell, and arguments with which no registrar starts.
  ["-", [{ command: ["sh", "-c", "registrar"] }]],
  ["-", [{ args: ["--http-endpoint=9809"] }]],
  ["-", [official]],
])("%s in the table, and below it who cannot be scraped: %j", async (cell, changes) => {
  const text = renderClusterTable(await (await clusterWith(...changes)).report(), LOOK);
  const shown = cell === "-" ? cell : `1: ${cell}`;
  expect(text).toMatch(new RegExp(`^storage/files-node .* the same +${literal(shown)}$`, "m"));
  expect(/^Prometheus cannot scrape .*files-node/m.test(text)).toBe(/^none|own pod/.test(cell));
});

test("for programs; and with --swap what the official registrars would serve", async () => {
  const metricsOf = ({ registrars }: ClusterReport) =>
    registrars.find(({ daemonSet }) => daemonSet === "storage/files-node")?.metrics;
  const cluster = await clusterWith({ ...official, args: [OPEN], ...port });
  expect(metricsOf(await cluster.report())).toEqual([]);
  const served = { endpoint: ":9809/metrics", port: "registrar", reach: "cluster", count: 1 };
  expect(metricsOf(await cluster.swapReport(""))).toEqual([served]);
  const without = await (await clusterWith(official)).swapReport("");
  expect(metricsOf(without)).toEqual([{ endpoint: null, port: null, reach: "none", count: 1 }]);
  expect(renderClusterTable(without, LOOK)).toMatch(
    /\nPrometheus cannot scrape storage\/files-node: set --http/,
  );
});
