import { renderClusterTable } from "../../../../src/tools/doctor/cluster/table";
import {
  csiDriver,
  daemonSet,
  NAMESPACE,
  podStatus,
  volumeAttachment,
} from "../../../support/cluster-objects";
import {
  ago,
  type Changes,
  createMemoryCluster,
  makeCluster,
  running,
  said,
  sickCluster,
  WELL,
} from "./memory-cluster";
import { addNode, DISK, deploy, FILES, STORAGE } from "./sick-cluster";

test("an object that cannot be judged is not a list that could not be read", async () => {
  const cluster = await makeCluster();
  cluster.setFault({ read: /csinodes/, page: 0, what: "broken" });
  expect((await said(cluster)).join("\n")).toMatch(
    /CSI204 unknown: .*is possibly registered: some of the CSINodes could not be judged/,
  );
});

test.each([true, false])(
  "a CSINode without its Node is to be compared, others listed: %s",
  async (hasOther) => {
    const cluster = await makeCluster({ podsOn: [] });
    cluster.edit((stored) => stored.filter(({ path }) => path !== "/api/v1/nodes"));
    if (hasOther) await addNode(cluster, "node-2", {});
    expect(await said(cluster)).toEqual([
      `CSI204 unknown: ${DISK} is possibly registered: the list of Nodes lacks a node that a CSINode or a running pod names -> run doctor again: Kubernetes removes the CSINode of a deleted Node; compare: kubectl get nodes,csinodes`,
    ]);
  },
);

/** All lists, whichever is missing: one role is enough. */
const RULE =
  "registrar-doctor --verb=list --resource=events,limitranges,nodes,pods,daemonsets.apps,csidrivers.storage.k8s.io,csinodes.storage.k8s.io,volumeattachments.storage.k8s.io";

test("the missing rule is for the cluster that was looked at", async () => {
  const cluster = await makeCluster();
  cluster.refuse(["nodes"], "no");
  const { findings } = await cluster.report({ context: "a b" });
  const create = `kubectl --context='a b' create clusterrole ${RULE}`;
  expect(findings.map(({ command }) => command)).toContain(create);
});

describe("a forbidden list is unknown, and the missing rule is named", () => {
  test("the other lists are judged", async () => {
    const cluster = await makeCluster({ inCsiNode: {} });
    cluster.refuse(["csinodes"], "csinodes is forbidden");
    expect(await said(cluster)).toEqual([
      expect.stringMatching(/^CSI204 unknown: .*is possibly registered: CSINodes could not be listed/),
      expect.stringContaining(`: kubectl create clusterrole ${RULE}`),
    ]);
  });

  test("without any list there is no report", async () => {
    const cluster = await makeCluster();
    cluster.refuse([".*"], "you may not");
    await expect(cluster.report()).rejects.toThrow(
      "cannot read the cluster: you may not; ask a cluster administrator for the right to list events, limitranges,",
    );
    cluster.refuse([".*"], "Unauthorized", "unauthorized");
    await expect(cluster.report()).rejects.toThrow(/Unauthorized; kubectl's token .*: log in again$/);
    cluster.refuse(["pods"], "Unauthorized", "unauthorized");
    expect((await said(cluster)).at(-1)).toMatch(/^CSI212 unknown: pods could .*: log in again$/);
    cluster.refuse([".*"], "dial tcp 127.0.0.1:8080: refused", "unavailable");
    await expect(cluster.report()).rejects.toThrow(/refused; .* set KUBECONFIG, or give --kubeconfig/);
  });
});

test("--swap reports limits of the namespace, and what a driver's own pods may lose", async () => {
  const cluster = await makeCluster({ podsOn: [] });
  const set = daemonSet(FILES, { image: "x/csi-node-driver-registrar:v2.17.0" });
  Object.assign(set.spec.template.spec.containers[0] ?? {}, {
    resources: { limits: { memory: "32Mi", cpu: "1" } },
  });
  await deploy(cluster, set, ["node-1"], () => WELL, { desired: 4 });
  await cluster.create(`/api/v1/namespaces/${NAMESPACE}/limitranges`, {
    metadata: { name: "all", namespace: NAMESPACE },
    spec: { limits: [{ type: "Container", max: { memory: "48Mi" } }] },
  });
  // Another namespace's are not read.
  await cluster.create("/api/v1/namespaces/shop/limitranges", { metadata: { namespace: "shop" }, spec: {} });
  const { findings } = await cluster.swapReport("");
  expect(findings.map(({ code, status, fix }) => `${code} ${status}: ${fix}`)).toEqual([
    "CSI105 problem: set resources.limits.memory: 100Mi, at least 64Mi; raise max in LimitRange storage/all to 64Mi at least",
  ]);
});

test("a cluster with several troubles: of one node, of one driver, of one that is not there", async () => {
  const cluster = await sickCluster();
  const ofNode = await cluster.report({ node: "node-4", context: "east" });
  expect(ofNode.findings.filter(({ command }) => /^kubectl (?!--context=east )/.test(command ?? ""))).toEqual(
    [],
  );
  expect(new Set(ofNode.nodes.map(({ node }) => node))).toEqual(new Set(["node-4"]));
  const ofDriver = await cluster.report({ driver: FILES });
  expect(toldBy(ofDriver)).toEqual([
    `CSI203 problem ${FILES} - node-2`,
    `CSI207 problem ${FILES} - node-4`,
    `CSI211 problem ${FILES} CSI207 node-4`,
    "CSI211 unknown nodes - node-3",
  ]);
  await expect(cluster.report({ node: "node-9" })).rejects.toThrow("there is no node node-9");
});

/** Code, status, subject, the code that it follows from, and the nodes. */
const toldBy = ({ findings }: Awaited<ReturnType<ReturnType<typeof createMemoryCluster>["report"]>>) =>
  findings
    .filter(({ status }) => status !== "ok")
    .map(({ code, status, subject, follows, nodes }) =>
      [code, status, subject.replace(/.*DaemonSet /, ""), follows ?? "-", ...nodes].join(" "),
    );

const WRONG_PATH = { path: "/csi/csi.sock" };
const UNKNOWN_NAME = { folder: "plugin" };
const crash = (message = "", at = ago(1)) =>
  ({ kind: "crash-loop", restarts: 7, last: { at, exitCode: 1, message } }) as const;

describe("causes", () => {
  const two = { "x.csi": "i", "y.csi": "i" };

  test.each<readonly [what: string, expected: readonly string[], Changes]>([
    [
      "kubelet refuses the path that the DaemonSet gives",
      ["CSI102 problem storage/disk-node, container registrar -", `CSI204 problem ${DISK} CSI102 node-1`],
      { inCsiNode: {}, set: WRONG_PATH },
    ],
    [
      "the driver ends, whatever the registrar's path is",
      ["CSI102 problem storage/disk-node, container registrar -", `CSI203 problem ${DISK} - node-1`],
      { inCsiNode: {}, set: WRONG_PATH, status: podStatus({ registrar: running, driver: crash() }) },
    ],
    [
      "a driver whose name is a guess may be one of those that are listed",
      ["CSI204 unknown plugin - node-1", "CSI209 warning x.csi -", "CSI209 warning y.csi -"],
      { inCsiNode: two, hasCsiDriver: false, set: UNKNOWN_NAME },
    ],
    [
      "a driver whose name is known is none of the others that are listed",
      [`CSI204 problem ${DISK} - node-1`, "CSI208 warning x.csi - node-1"],
      { inCsiNode: { "x.csi": "i" } },
    ],
    [
      "a driver whose registrar was started a minute ago",
      [`CSI204 problem ${DISK} - node-1`],
      { inCsiNode: {}, status: podStatus({ registrar: { kind: "running", at: ago(1) }, driver: running }) },
    ],
    [
      "a driver whose name is a guess, and none is listed",
      ["CSI204 problem plugin - node-1"],
      { inCsiNode: {}, hasCsiDriver: false, set: UNKNOWN_NAME },
    ],
  ])("%s", async (_what, expected, changes) => {
    expect(toldBy(await (await makeCluster(changes)).report())).toEqual(expected);
  });

  const REGISTRAR = "storage/disk-node, container registrar";
  const wrong = ["--csi-address=/csi/csi.sock", "--kubelet-registration-path=/csi/csi.sock"];
  const postStart = { exec: { command: ["{{ .Values.hook }}"] } };

  test.each<readonly [what: string, expected: readonly string[], registrar: object]>([
    [
      "a warning of a registrar causes no trouble",
      [`CSI114 warning ${REGISTRAR} -`, `CSI204 problem ${DISK} - node-1`],
      { resources: { limits: { cpu: "10m" } } },
    ],
    [
      "a problem of a registrar is a cause, whatever else of it is unknown",
      [
        ...[`CSI101 unknown ${REGISTRAR} -`, `CSI102 problem ${REGISTRAR} -`],
        `CSI204 problem ${DISK} CSI102 node-1`,
      ],
      { args: wrong, lifecycle: { postStart } },
    ],
  ])("%s", async (_what, expected, fields) => {
    const daemon = daemonSet(DISK);
    for (const one of daemon.spec.template.spec.containers)
      if (one.name === "registrar") Object.assign(one, fields);
    expect(toldBy(await (await makeCluster({ daemon, inCsiNode: {} })).report())).toEqual(expected);
  });

  test("a registrar that ended because of its path has one finding, with its last words", async () => {
    const status = podStatus({ registrar: crash("write the right path"), driver: running });
    const report = await (await makeCluster({ inCsiNode: {}, set: WRONG_PATH, status })).report();
    expect(toldBy(report)[1]).toBe(`CSI201 problem ${DISK} CSI102 node-1`);
    expect(report.findings[1]?.text).toMatch(/^has a registrar that keeps restarting: .*\(exit code 1\)$/);
  });

  test("a missing toleration of a startup taint leads over what follows from it", async () => {
    const daemon = daemonSet(DISK);
    Object.assign(daemon.spec.template.spec, { tolerations: [] });
    const cluster = await makeCluster({ daemon, inCsiNode: {}, podsOn: [] });
    const taints = [{ key: `${DISK}/agent-not-ready`, effect: "NoSchedule" }];
    await cluster.setSpec("/api/v1/nodes/node-1", { taints });
    await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", DISK, "node-1"));
    const report = await cluster.report();
    expect(toldBy(report)).toEqual([
      `CSI207 problem ${DISK} CSI213 node-1`,
      `CSI211 problem ${DISK} CSI213 node-1`,
      "CSI213 problem storage/disk-node - node-1",
    ]);
    expect(report.findings.at(-1)?.fix).toBe(
      `add to the tolerations of its pod template: {key: ${DISK}/agent-not-ready, operator: Exists}`,
    );
  });

  test("one DaemonSet's fault causes no finding about another's driver", async () => {
    const cluster = await makeCluster({ inCsiNode: {}, set: WRONG_PATH, desired: 3 });
    await deploy(cluster, daemonSet(FILES), ["node-1"], () => WELL);
    expect(toldBy(await cluster.report({ driver: FILES }))).toEqual([`CSI204 problem ${FILES} - node-1`]);
    expect(toldBy(await cluster.report())).toContain(`CSI204 problem ${FILES} - node-1`);
  });

  test("doctor reports a pod that is not scheduled, also where it is asked about the pod's node", async () => {
    const conditions = [{ type: "PodScheduled", status: "False", message: "Insufficient cpu" }];
    const cluster = await makeCluster({ inCsiNode: {}, isScheduled: false, status: { conditions } });
    expect(toldBy(await cluster.report({ node: "node-1" }))).toEqual([`CSI202 problem ${DISK} - node-1`]);
    await cluster.setSpec(`/api/v1/namespaces/${NAMESPACE}/pods/disk-node-node-1`, { affinity: {} });
    expect(toldBy(await cluster.report())).toEqual([`CSI202 problem ${DISK} -`]);
  });

  test("containers with one cause are one finding, whatever they print", async () => {
    const cluster = createMemoryCluster();
    const nodes = ["node-a", "node-b", "node-c"];
    for (const name of nodes) await addNode(cluster, name);
    await cluster.create(`${STORAGE}/csidrivers`, csiDriver(DISK));
    const crashOf = (name: string) => {
      const { last, ...rest } = crash(`disk-node-${name} on ${name}`);
      return { ...rest, last: { ...last, exitCode: name === "node-c" ? 137 : 1 } };
    };
    await deploy(cluster, daemonSet(DISK), nodes, (name) =>
      podStatus({ registrar: crashOf(name), driver: running }),
    );
    expect(toldBy(await cluster.report())).toEqual([
      `CSI201 problem ${DISK} - node-a node-b`,
      `CSI201 problem ${DISK} - node-c`,
    ]);
    const { findings } = await cluster.report({ context: "east" });
    expect(findings[0]?.command).toContain("kubectl --context=east -n storage logs disk-node-node-a -c reg");
  });
});

test("a cluster without drivers has no problem", async () => {
  const cluster = createMemoryCluster();
  expect(await said(cluster)).toEqual([
    expect.stringMatching(/^CSI212 unknown: nodes do not exist: .*: kubectl get nodes$/),
  ]);
  const firstLine = async (target = {}) =>
    renderClusterTable(await cluster.report(target), { width: 200, colors: false }).split("\n")[0];
  expect(await firstLine()).toBe("unknown CSI212 nodes");
  await addNode(cluster, "node-1", {});
  const { healthy, drivers, findings } = await cluster.report();
  expect([healthy, drivers, findings]).toEqual([true, [], []]);
  const none = "No driver: no DaemonSet has a registrar, and no CSINode lists a driver.";
  expect([await firstLine(), await firstLine({ driver: DISK })]).toEqual([none, `PROBLEM CSI208 ${DISK}`]);
  cluster.setFault({ read: /csinodes/, page: 0, what: "broken" });
  expect(await firstLine()).toMatch(/^unknown CSI113 /);
});

test("the table has the first twenty places that are not well, and says how many are left", async () => {
  const report = await (await makeCluster({ inCsiNode: {} })).report();
  const [row] = report.nodes;
  const nodes = Array.from({ length: 30 }, (_, at) => ({ ...row, ...(at % 6 === 0 && { reason: null }) }));
  const table = renderClusterTable({ ...report, nodes } as typeof report, { width: 200, colors: false });
  expect(table.match(/^node-1 +disk/gm)).toHaveLength(20);
  expect(table).toContain("\n... and 5 more: choose some with --node");
});

test("a DaemonSet with two registrars of one driver is named once", async () => {
  const daemon = daemonSet(DISK);
  const { containers } = daemon.spec.template.spec;
  for (const one of [...containers])
    if (one.name === "registrar") containers.push({ ...one, name: "second" });
  expect((await (await makeCluster({ daemon })).report()).drivers).toMatchObject([
    { name: DISK, daemonSets: ["storage/disk-node"] },
  ]);
});

describe("of one driver", () => {
  const OTHER = { driver: "nobody.csi" };

  test("a driver that is known by its DaemonSet, by a CSINode, or only by the registrar of all drivers", async () => {
    const codes = async (cluster: ReturnType<typeof createMemoryCluster>, driver: string) =>
      toldBy(await cluster.report({ driver })).map((line) => line.slice(0, 14).replace(/ [pw]\w+ .*/, ""));
    expect(await codes(await makeCluster({ inCsiNode: {}, podsOn: [] }), DISK)).toEqual(["CSI208 problem"]);
    expect(await codes(await makeCluster({ inCsiNode: { [DISK]: "i", [FILES]: "i" } }), FILES)).toEqual([
      "CSI208 warning",
    ]);
    const set = { path: "/var/lib/kubelet/plugins/*/csi.sock" };
    const nodeWide = await makeCluster({ set, inCsiNode: {} });
    expect(await codes(nodeWide, OTHER.driver)).toEqual(["CSI101 problem", "CSI208 problem"]);
    const { drivers } = await nodeWide.report(OTHER);
    expect(drivers.map(({ name }) => name)).toEqual(["(every driver)"]);
    nodeWide.refuse(["csinodes"], "no");
    expect(await codes(nodeWide, OTHER.driver)).toContain("CSI208 unknown");
    const names = { "f.csi": "i", "e.csi": "i", "d.csi": "i", "c.csi": "i", "b.csi": "i" };
    const mistyped = await (await makeCluster({ inCsiNode: names })).report({ driver: "disc.csi.example" });
    const others = `doctor found ${DISK}, b\\.csi, c\\.csi, d\\.csi, e\\.csi and 1 more\n +-> install it,`;
    expect(renderClusterTable(mistyped, { width: 300, colors: false })).toMatch(
      new RegExp(`^PROBLEM CSI208 disc\\.csi\\.example\n +is in no.*${others}`, "ms"),
    );
  });

  test("whether CSINode has a driver whose name is a guess is not known, and the registrar's log tells its name", async () => {
    const cluster = await makeCluster({
      inCsiNode: { x: "i", y: "i" },
      hasCsiDriver: false,
      set: UNKNOWN_NAME,
    });
    expect((await cluster.report()).nodes).toContainEqual(
      expect.objectContaining({ node: "node-1", driver: "plugin", csiNode: null }),
    );
    expect((await said(cluster))[0]).toMatch(
      /^CSI204 unknown: .* -> see the name of its driver in the registrar's log, .*: kubectl -n storage logs \S+-node-1 -c registrar$/,
    );
  });

  test("a guessed driver's name is not printed in a fix, and may be the one of --driver", async () => {
    const set = { ...UNKNOWN_NAME, driverArgs: [`--name=${DISK}`] };
    const cluster = await makeCluster({ inCsiNode: {}, set });
    await deploy(cluster, daemonSet(FILES, { name: "other", folder: "guess" }), ["node-1"], () => WELL);
    expect((await cluster.report(OTHER)).findings[0]).toMatchObject({
      text: expect.stringMatching(
        `; doctor found ${DISK}; the name of the driver of storage/other is not known$`,
      ),
      fix: "see the name of its driver in the registrar's log; if it is another, install it, or correct --driver",
      command: "kubectl -n storage logs other-node-1 -c registrar",
    });
    cluster.refuse(["csidrivers"], "no");
    expect(toldBy(await cluster.report({ driver: DISK }))).toContain(`CSI204 unknown ${DISK} - node-1`);
  });

  test("--driver leaves out the pods of others, and names a list that failed", async () => {
    const cluster = await makeCluster({ desired: 3 });
    expect(toldBy(await cluster.report(OTHER))).toEqual(["CSI208 problem nobody.csi -"]);
    expect(toldBy(await cluster.report())).toEqual(["CSI207 problem storage/disk-node -"]);
    cluster.refuse(["csidrivers"], "busy", "unexpected");
    expect((await said(cluster)).slice(1)).toEqual([
      expect.stringMatching(/^CSI212 unknown: csidrivers could not be listed: busy -> run doctor again/),
    ]);
  });
});
