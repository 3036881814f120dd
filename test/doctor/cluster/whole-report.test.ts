import { daemonSet, NAMESPACE } from "../../support/cluster-objects";
import { ago, createMemoryCluster, makeCluster, said, WELL } from "./memory-cluster";
import { BACKUP, DISK, deploy, FILES, makeSickCluster, SHARES } from "./sick-cluster";

describe("what may not be read is unknown, and the rule that is missing is named", () => {
  const AWAY = /^CSI204 problem/;

  test.each([
    ["storage.k8s.io", "csinodes", /^CSI204 unknown: .*may be registered or not/],
    ["", "nodes", AWAY],
    ["", "events", AWAY],
    ["storage.k8s.io", "csidrivers", AWAY],
    ["storage.k8s.io", "volumeattachments", AWAY],
  ])("%s %s: the rest goes on", async (group, resource, expected) => {
    const cluster = await makeCluster({ inCsiNode: {} });
    cluster.refusals.set(resource, { kind: "forbidden", message: `${resource} is forbidden` });
    const rule = `{apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["list"]}`;
    expect(await said(cluster)).toEqual([
      expect.stringMatching(expected),
      expect.stringContaining(`-> allow it in a ClusterRole: ${rule}`),
    ]);
  });

  test("nothing at all: that is no report", async () => {
    const cluster = await makeCluster();
    const all = [
      ...["daemonsets", "pods", "nodes", "csinodes", "csidrivers", "volumeattachments", "events"],
      ...["mutatingadmissionpolicies", "mutatingadmissionpolicybindings"],
    ];
    for (const resource of all) cluster.refusals.set(resource, { kind: "forbidden", message: "you may not" });
    await expect(cluster.report()).rejects.toThrow("nothing can be read of the cluster: you may not");
  });
});

test("--swap: what raised limits meet in their namespace, and what a driver's own pods may lose", async () => {
  const cluster = await makeCluster({ hasPod: false });
  const set = daemonSet(FILES, { image: "x/csi-node-driver-registrar:v2.17.0" });
  Object.assign(set.spec.template.spec.containers[0] ?? {}, {
    resources: { limits: { memory: "32Mi", cpu: "1" } },
  });
  await deploy(cluster, set, ["node-1"], () => WELL, { desired: 4 });
  const create = (path: string, name: string, spec: object, status?: object) =>
    cluster.create(path, { metadata: { name, namespace: NAMESPACE }, spec, status });
  const core = `/api/v1/namespaces/${NAMESPACE}`;
  const memory = (amount: string) => ({ "limits.memory": amount });
  await create(`${core}/resourcequotas`, "q", { hard: memory("200Mi") }, { used: memory("128Mi") });
  await create(`${core}/limitranges`, "all", { limits: [{ type: "Container", max: { memory: "48Mi" } }] });
  await create(`/apis/autoscaling.k8s.io/v1/namespaces/${NAMESPACE}/verticalpodautoscalers`, "v", {
    targetRef: { kind: "DaemonSet", name: set.metadata.name },
  });
  // Another namespace's are not read.
  await cluster.create("/api/v1/namespaces/shop/limitranges", { metadata: { namespace: "shop" }, spec: {} });
  const findings = async () =>
    (await cluster.swapReport("")).findings.map(({ code, status, fix }) => `${code} ${status}: ${fix}`);
  const cpu =
    "CSI114 warning: add to its containerPolicies: {containerName: registrar, minAllowed: {cpu: 50m}}";
  expect(await findings()).toEqual([
    "CSI105 problem: set resources.limits.memory: 100Mi, at least 64Mi; raise max in LimitRange storage/all as far; " +
      "for 4 pods with 64Mi each ResourceQuota storage/q needs limits.memory: 256Mi at least, and has 200Mi",
    cpu,
  ]);

  for (const resource of ["limitranges", "resourcequotas"])
    cluster.refusals.set(resource, { kind: "forbidden", message: "no" });
  cluster.refusals.set("verticalpodautoscalers", { kind: "not-found", message: "no such API" });
  expect(await findings()).toEqual([
    "CSI105 problem: set resources.limits.memory: 100Mi, at least 64Mi",
    ...["limitranges", "resourcequotas"].map((name) =>
      expect.stringMatching(`^CSI212 unknown: allow it in a ClusterRole: .* resources: \\["${name}"\\]`),
    ),
  ]);
});

describe("a cluster with several troubles", () => {
  const sick = async () => {
    const cluster = createMemoryCluster();
    await makeSickCluster(cluster, Date.parse(ago(0)));
    return cluster;
  };

  test("each has its cause, and what follows from it", async () => {
    const { findings } = await (await sick()).report();
    const told = findings.map(({ code, subject, follows, nodes }) =>
      [code, subject.replace(/.*DaemonSet /, ""), follows ?? "-", nodes.join("+")].join(" "),
    );
    expect(told).toEqual([
      "CSI102 storage/disk-node, container registrar - ",
      `CSI201 ${DISK} CSI102 node-1+node-2+node-4`,
      `CSI203 ${FILES} - node-2`,
      `CSI207 ${FILES} - node-4`,
      `CSI208 ${BACKUP} - node-1`,
      `CSI209 ${SHARES} - `,
      "CSI210 nodes - node-3",
      `CSI211 ${BACKUP} CSI208 node-1`,
      `CSI211 ${DISK} CSI102 node-1+node-2`,
      `CSI211 ${FILES} CSI207 node-4`,
    ]);
  });

  test("of one node, of one driver, of one that is not there", async () => {
    const cluster = await sick();
    const ofNode = await cluster.report({ node: "node-4" });
    expect(new Set(ofNode.nodes.map(({ node }) => node))).toEqual(new Set(["node-4"]));
    const ofDriver = await cluster.report({ driver: FILES });
    expect(ofDriver.drivers.map(({ name }) => name)).toEqual([FILES]);
    expect(ofDriver.findings.map(({ code }) => code)).toEqual(["CSI203", "CSI207", "CSI210", "CSI211"]);
    const { findings } = await cluster.report({ driver: "nobody.csi" });
    expect(findings).toMatchObject([{ code: "CSI208", subject: "nobody.csi", status: "problem" }]);
    await expect(cluster.report({ node: "node-9" })).rejects.toThrow("there is no node node-9");
  });
});
