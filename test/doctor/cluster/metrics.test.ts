import { renderClusterSwapTable, renderClusterTable } from "../../../src/doctor/cluster/table";
import { literal } from "../../../src/manifest/image-policy/recognise";
import { daemonSet } from "../../support/cluster-objects";
import { makeCluster, WELL } from "./memory-cluster";
import { deploy, FILES } from "./sick-cluster";

// Who can scrape a registrar.

type Change = { readonly args?: readonly string[] } & Readonly<Record<string, unknown>>;

/** The pods of a DaemonSet whose registrar and driver have these fields, beside one that serves to all. */
async function clusterWith(registrar: Change, pod: object = {}, driver: object = {}) {
  const cluster = await makeCluster({ hasPod: false });
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
const OPEN = "--http-endpoint=:9809";
const port = { ports: [{ name: "registrar", containerPort: 9809 }] };
const onHost = { hostNetwork: true };
const sidecar = { name: "sidecar", image: "sidecar:v1", args: ["--v=2"], restartPolicy: "Always" };
const official = { image: "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0" };

const INSIDE =
  /^Nobody can .*files-node, with an endpoint inside the pod only: set --http-endpoint=:PORT in the/;
const WITHOUT =
  /^Nobody can scrape storage\/files-node, without an endpoint: set --http-endpoint=:PORT in the/;

type Row = readonly [cell: string, line: RegExp | undefined, changes: Parameters<typeof clusterWith>];

test.each<Row>([
  [":9809/metrics", undefined, [{ args: [OPEN], ...port }]],
  [":9809/metrics", undefined, [{ args: ["--health-port=9809"], ...port }]],
  [":9809/metrics (no named port)", undefined, [{ args: [OPEN] }]],
  [
    ":9809/m (no named port)",
    undefined,
    [{ args: [OPEN, "--metrics-path=/m"], ports: [{ containerPort: 9809 }] }],
  ],
  [
    ":9809/metrics (no named port)",
    undefined,
    [{ args: [OPEN], ports: [{ name: "other", containerPort: 1 }] }],
  ],
  [":9809/metrics", undefined, [{ args: [OPEN] }, { initContainers: [{ ...sidecar, ...port }] }]],
  ...["10.0.0.1", "localhost.example.com", "1270.example.com", "[::12]"].map(
    (host): Row => [`${host}:9809/metrics`, undefined, [{ args: [`--http-endpoint=${host}:9809`], ...port }]],
  ),
  ["none", WITHOUT, [{}]],
  ["none", WITHOUT, [{}, onHost]],
  ...["localhost", "127.0.0.1", "[::1]"].flatMap((host): readonly Row[] => {
    const registrar = { args: [`--http-endpoint=${host}:9809`], ...port };
    const proxy = (url: string) => ({ args: ["--logtostderr", `--upstream=http://${url}/`] });
    const cell = `${host}:9809/metrics`;
    return [
      [`${cell} (to its own pod only)`, INSIDE, [registrar]],
      [`${cell} (to its own pod only)`, INSIDE, [registrar, {}, proxy("127.0.0.1:98090")]],
      [`${cell} (to its node only)`, undefined, [registrar, onHost]],
      ...["localhost", "127.0.0.1", "[::1]"].map(
        (at): Row => [cell, undefined, [registrar, { initContainers: [sidecar] }, proxy(`${at}:9809`)]],
      ),
    ];
  }),
  // Not known: a shell, and arguments with which no registrar starts.
  ["-", undefined, [{ command: ["sh", "-c", "registrar"] }]],
  ["-", undefined, [{ args: ["--http-endpoint=9809"] }]],
  ["-", undefined, [official]],
])("%s in the table, and below it %s: %j", async (cell, line, changes) => {
  const cluster = await clusterWith(...changes);
  const text = renderClusterTable(await cluster.report(), { width: 200, colors: false });
  const shown = cell === "-" ? cell : `1: ${cell}`;
  expect(text).toMatch(new RegExp(`^storage/files-node .* the same +${literal(shown)}$`, "m"));
  expect(text.split("\n").filter((one) => /^Nobody can scrape/.test(one))).toEqual(
    line === undefined ? [] : [expect.stringMatching(line)],
  );
});

test("for programs; and with --swap what the official registrars would serve", async () => {
  const cluster = await clusterWith({ ...official, args: [OPEN], ...port });
  const metricsOf = ({
    registrars,
  }: {
    readonly registrars: readonly { readonly daemonSet: string; readonly metrics: unknown }[];
  }) => registrars.find(({ daemonSet }) => daemonSet === "storage/files-node")?.metrics;
  expect(metricsOf(await cluster.report())).toEqual([]);
  const after = await cluster.swapReport("");
  expect(metricsOf(after)).toEqual([
    { endpoint: ":9809/metrics", port: "registrar", reach: "cluster", count: 1 },
  ]);
  const without = await (await clusterWith(official)).swapReport("");
  expect(metricsOf(without)).toEqual([{ endpoint: null, port: null, reach: "none", count: 1 }]);
  expect(renderClusterSwapTable(without, { width: 100, colors: false })).toContain(
    "\nNobody can scrape storage/files-node, without an endpoint: ",
  );
});
