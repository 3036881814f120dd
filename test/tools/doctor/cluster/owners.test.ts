import * as fc from "fast-check";
import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "../../../../src/host-path/kubelet-roots";
import { itemsOf, orNull, trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { csiDriver, daemonSet, onHostPath, volumeAttachment } from "../../../support/cluster-objects";
import { propertyTest } from "../../../support/fuzz";
import { createMemoryCluster, expectSaid, type MemoryCluster, WELL } from "./memory-cluster";
import { addNode, DISK, deploy, STORAGE } from "./sick-cluster";

// CSINode lists a driver whose DaemonSet has no pod there: another pod may serve it.

const OWN_ROOT = "/data/node/kubelet";
const ROOTS = [DEFAULT_KUBELET_ROOT, ...Object.values(KUBELET_ROOTS), OWN_ROOT];
const above = (path: string): string[] =>
  path === "/" ? ["/"] : [path, ...above(path.replace(/\/[^/]+$/, "") || "/")];

interface Mounted {
  readonly path: string;
  readonly mount: object;
}

async function makeDoubted(pods: readonly Mounted[], socket?: string): Promise<MemoryCluster> {
  const cluster = createMemoryCluster();
  await addNode(cluster, "node-1", { [DISK]: "i" });
  await cluster.create(`${STORAGE}/csidrivers`, csiDriver(DISK));
  await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", DISK, "node-1"));
  await deploy(cluster, daemonSet(DISK, socket === undefined ? {} : { path: socket }), [], () => WELL);
  for (const [at, { path, mount }] of pods.entries())
    await cluster.create("/api/v1/namespaces/logs/pods", {
      metadata: { name: `agent-${at}`, namespace: "logs" },
      spec: { nodeName: "node-1", ...onHostPath(path, mount) },
      status: { phase: "Running" },
    });
  return cluster;
}

const aPath = fc.oneof(
  fc.constantFrom(...new Set(ROOTS.flatMap(above))),
  fc.constantFrom(...ROOTS.map((root) => `${root}/plugins_registry`)),
  fc.constantFrom("/var/log", "/var/lib/kubelet/pods", "/dev", "/etc/kubernetes"),
);
const aMount = fc.constantFrom({}, { readOnly: true }, { subPath: "lib" }, { subPathExpr: "$(NODE)" });

propertyTest(
  "no other pod may have registered a driver only where none can write what holds a kubelet's registration sockets",
  {
    runs: 150,
    given: fc.record({ pods: fc.array(fc.record({ path: aPath, mount: aMount }), { maxLength: 3 }) }),
  },
  async ({ pods }) => {
    const facts = await (await makeDoubted(pods, `${OWN_ROOT}/plugins/${DISK}/csi.sock`)).facts();
    const [place] = itemsOf(facts.places);
    if (place === undefined) throw new Error("there is no place");
    const written = pods.flatMap(({ path, mount }) => {
      if ("readOnly" in mount) return [];
      return "subPath" in mount ? `${path}/${mount.subPath}`.replace("//", "/") : path;
    });
    const canReach = written.some((path) =>
      ROOTS.map((root) => `${root}/plugins_registry`).some(
        (registry) => above(registry).includes(path) || above(path).includes(registry),
      ),
    );
    const { owners, rivals } = facts.ownersOf(place);
    expect(orNull(rivals, ({ length }) => length > 0) !== false).toBe(canReach);
    // A service of the host may be one, too.
    expect([owners, rivals].map((list) => trueOrNull(list.contains()))).not.toContain(false);
  },
);

const PROBLEMS = [/^CSI207 problem: /, /^CSI211 problem: /];

test.each<[string, Mounted, readonly RegExp[]]>([
  [
    "the host's files",
    { path: "/", mount: {} },
    [
      /^CSI204 unknown: .* no pod of its DaemonSet is there; perhaps a pod .* serves it: logs\/agent-0 \(\/\)/,
    ],
  ],
  ["the host's files to read", { path: "/", mount: { readOnly: true } }, PROBLEMS],
  ["logs", { path: "/var/log", mount: {} }, PROBLEMS],
  ["kubelet's pods", { path: "/var/lib/kubelet/pods", mount: {} }, PROBLEMS],
  ["kubelet's root", { path: "/var/lib/kubelet", mount: {} }, []],
  ["a directory below that of the sockets", { path: "/x/plugins_registry/a", mount: {} }, []],
])(
  "a driver without its pod is a problem unless another pod may serve it: one with %s",
  async (_what, pod, said) => {
    await expectSaid(await makeDoubted([pod]), ...said);
  },
);

test("what may serve a driver that nothing registers is in the advice, with its pods", async () => {
  const cluster = createMemoryCluster();
  await addNode(cluster, "node-1", {});
  await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", DISK, "node-1"));
  await cluster.create(`${STORAGE}/csidrivers`, csiDriver(DISK));
  for (const name of ["a", "b"])
    await cluster.create("/api/v1/namespaces/logs/pods", {
      metadata: { name, namespace: "logs" },
      spec: { nodeName: "node-1", ...onHostPath("/var") },
    });
  const { findings } = await cluster.report();
  expect(findings.find(({ code }) => code === "CSI208")?.fix).toMatch(
    /unless a pod of its node serves it: perhaps .*: logs\/a \(\/var\), logs\/b \(\/var\)$/,
  );
});
