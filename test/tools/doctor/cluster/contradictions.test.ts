import * as fc from "fast-check";
import { daemonSet } from "../../../support/cluster-objects";
import { propertyTest } from "../../../support/fuzz";
import { makeHealthy } from "./healthy-cluster";
import { ago, expectSaid, makeCluster, sickCluster, WELL } from "./memory-cluster";
import { deploy, SHARES } from "./sick-cluster";

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

const hidden = fc.record({
  name: fc.constantFrom("disk-node", "files-node", "shares-node"),
  isOtherHidden: fc.boolean(),
  isListed: fc.boolean(),
  isDeleted: fc.boolean(),
  isOfKubernetes: fc.boolean(),
});

propertyTest(
  "a DaemonSet that its list lacks and a pod is of: nothing is said to be in no DaemonSet",
  { runs: 60, given: hidden },
  async ({ name, isOtherHidden, isListed, isDeleted, isOfKubernetes }) => {
    const cluster = await sickCluster();
    const logs = daemonSet("x", { name: "logs" });
    logs.spec.template.spec.containers.shift();
    await deploy(cluster, logs, ["node-1"], () => WELL);
    const apiVersion = isOfKubernetes ? "apps/v1" : "apps.kruise.io/v1alpha1";
    cluster.edit((all) =>
      all.flatMap(({ path, object }) => {
        const { metadata } = object;
        const isOf = (one: { readonly name: string }) =>
          one.name === name || (isOtherHidden && one.name === "logs");
        if (path.endsWith("/daemonsets") && isOf(metadata)) return [];
        const owners = (metadata as { ownerReferences?: { name: string }[] }).ownerReferences ?? [];
        if (!owners.some(isOf)) return { path, object };
        const ownerReferences = owners.map((one) => ({ ...one, apiVersion }));
        const deletionTimestamp = isDeleted ? ago(1) : undefined;
        return { path, object: { ...object, metadata: { ...metadata, ownerReferences, deletionTimestamp } } };
      }),
    );
    if (!isListed)
      cluster.setView((path, one) =>
        path.endsWith("/csinodes") ? { ...one, spec: { drivers: [{ name: SHARES }] } } : one,
      );
    const { findings, drivers } = await cluster.report();
    const told = findings.map(({ code, text, fix }) => `${code} ${text} -> ${fix}`).join("\n");
    const isUnlisted = isOfKubernetes && !isDeleted;
    expect(/^CSI212 .* their list lacks DaemonSet storage\/.*, to which pod storage\//m.test(told)).toBe(
      isUnlisted,
    );
    if (isUnlisted) expect(told).not.toContain("CSI208");
    if (isUnlisted) expect(drivers.every(({ daemonSets }) => daemonSets?.length !== 0)).toBe(true);
    expect(told).not.toMatch(/no DaemonSet .*\(DaemonSet /);
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
