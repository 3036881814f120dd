import { daemonSet } from "../../../support/cluster-objects";
import { makeHealthy } from "./healthy-cluster";
import { ago, expectSaid, makeCluster, sickCluster } from "./memory-cluster";
import { deploy } from "./sick-cluster";

// Objects of one API server that do not fit together: something between leaves some out.

test.each([
  ["all pods", 0, "; the same of 1 other DaemonSet"],
  ["some pods", 2, ""],
])(
  "where a list leaves out %s that the controller counts, what they decide is unknown",
  async (_what, left, more) => {
    const cluster = await makeHealthy();
    cluster.edit((all) => all.filter(({ path }, at) => !path.endsWith("/pods") || (left > 0 && at !== 11)));
    await expectSaid(
      cluster,
      new RegExp(
        `^CSI212 unknown: pods are not all known: their list has ${left} of the 3 that the status of DaemonSet storage/disk-node counts${more} -> .* describe daemonset disk-node$`,
      ),
    );
  },
);

test("where the DaemonSet of a driver wants no pod, doctor says why, and that an entry of CSINode is left", async () => {
  const cluster = await makeHealthy();
  const idle = { desiredNumberScheduled: 0, currentNumberScheduled: 0 };
  cluster.edit((all) => all.filter(({ path }) => !path.endsWith("/pods")));
  cluster.setView((path, one) => (path.endsWith("/daemonsets") ? { ...one, status: idle } : one));
  await expectSaid(
    cluster,
    /^CSI207 problem: disk\S+ is needed, .*: no node fits its nodeSelector, .* CSINode lists .*--show-labels$/,
    /^CSI208 warning: files\S+ .*but DaemonSet storage\/files-node has no pods .* a pod that it had there, unless .* -> .*--show-labels$/,
    /^CSI211 problem: disk/,
  );
});

test.each<readonly [what: string, spec: object, expected: readonly RegExp[]]>([
  ["null, as an API server sends it for no driver", { drivers: null }, [/^CSI204 problem: disk/]],
  [
    "not there",
    {},
    [/^CSI113 unknown: csinodes node-1 cannot be judged: it has no spec\.drivers /, /^CSI204 unknown: disk/],
  ],
])("the drivers of a CSINode are %s", async (_what, spec, expected) => {
  const cluster = await makeCluster();
  cluster.setView((path, one) => (path.endsWith("/csinodes") ? { ...one, spec } : one));
  await expectSaid(cluster, ...expected);
});

test.each<readonly [status: string, minutes: number, generation: number, ofStatus: object]>([
  ["problem", 60, 1, { observedGeneration: 0 }],
  ["unknown", 1, 1, { observedGeneration: 0 }],
  ["unknown", 60, 2, { observedGeneration: 1 }],
  ["unknown", 60, 2, { observedGeneration: 1, desiredNumberScheduled: 3 }],
])(
  "a DaemonSet that its controller has not counted is a %s after %d min",
  async (status, minutes, generation, ofStatus) => {
    const cluster = await makeCluster({ inCsiNode: {}, podsOn: [] });
    const metadata = { generation, creationTimestamp: ago(minutes) };
    cluster.edit((stored) =>
      stored.map((one) =>
        one.path.includes("daemonsets")
          ? {
              ...one,
              object: {
                ...one.object,
                metadata: { ...one.object.metadata, ...metadata },
                status: { ...Object(one.object.status), ...ofStatus },
              },
            }
          : one,
      ),
    );
    await expectSaid(
      cluster,
      new RegExp(
        `^CSI207 ${status}: DaemonSet storage/disk-node has a status .* -l component=kube-controller-manager$`,
      ),
    );
  },
);

test("a node-wide registrar that kubelet does not report is unknown where there is no CSINode", async () => {
  const cluster = await makeCluster({ podsOn: [] });
  const set = daemonSet("all", { path: "/var/lib/kubelet/plugins/*/csi.sock" });
  await deploy(cluster, set, ["node-1"], () => ({}));
  const young = { creationTimestamp: ago(1) };
  cluster.edit((stored) =>
    stored
      .filter(({ path }) => !path.endsWith("/csinodes"))
      .map(({ path, object }) => {
        const metadata = { ...object.metadata, ...(path.endsWith("/pods") && young) };
        return { path, object: { ...object, metadata } };
      }),
  );
  const { nodes } = await cluster.report();
  expect(nodes.map(({ driver, state }) => [driver, state])).toContainEqual(["(every driver)", "unseen"]);
});

test("what is unknown of one node causes nothing on another", async () => {
  const cluster = await sickCluster();
  cluster.setView((path, one) =>
    path.endsWith("/csinodes") && JSON.stringify(one).includes('"node-1"') ? { ...one, spec: "x" } : one,
  );
  const { findings } = await cluster.report();
  const unknown = findings.filter(({ code, status }) => code === "CSI204" && status === "unknown");
  expect(new Set(unknown.map(({ text }) => text)).size).toBeGreaterThan(1);
  expect(unknown.map(({ follows }) => follows)).toEqual(unknown.map(() => null));
});
