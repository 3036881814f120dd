import * as fc from "fast-check";
import type { ClusterReport } from "../../../../src/tools/doctor/cluster/report";
import {
  csiDriver,
  daemonSet,
  failedMount,
  onHostPath,
  podStatus,
  volumeAttachment,
  waitingPod,
} from "../../../support/cluster-objects";
import { propertyTest } from "../../../support/fuzz";
import {
  ago,
  createMemoryCluster,
  type MemoryCluster,
  makeCluster,
  running,
  said,
  sickCluster,
  WELL,
} from "./memory-cluster";
import { addNode, DISK, deploy, FILES, SHARES, STORAGE } from "./sick-cluster";

/** Where a second pod waits for a driver of a node. */
async function crowdedCluster(): Promise<MemoryCluster> {
  const cluster = await sickCluster();
  const waits = await cluster.create("/api/v1/namespaces/shop/pods", waitingPod("db-0", "node-2", "shop"));
  await cluster.create("/api/v1/namespaces/shop/events", failedMount(waits, DISK, "node-2"));
  return cluster;
}

const order = fc.array(fc.nat({ max: 999 }), { minLength: 100, maxLength: 100 });

propertyTest("the order of objects changes nothing", { runs: 15, given: order }, async (keys) => {
  const whole = await (await crowdedCluster()).report();
  const cluster = await crowdedCluster();
  cluster.edit((stored) =>
    stored
      .map((one, at) => ({ one, key: keys[at % keys.length] ?? 0 }))
      .toSorted((one, other) => one.key - other.key)
      .map(({ one }) => one),
  );
  expect(await cluster.report()).toEqual(whole);
});

test("objects that their lists have twice change nothing", async () => {
  const cluster = await sickCluster();
  cluster.edit((stored) => [...stored, ...stored]);
  expect(await cluster.report()).toEqual(await (await sickCluster()).report());
});

/** Names inside other names. */
const NAMES = {
  drivers: [DISK, FILES, SHARES, "backup.csi.example.com"],
  nodes: ["node-1", "node-2", "node-3", "node-4"],
  sets: ["disk-node", "files-node", "shares-node"],
  spaces: ["storage", "shop"],
};
const among = (count: number, ...names: readonly string[]) =>
  fc
    .shuffledSubarray([...names], { minLength: count, maxLength: count })
    .map((all) => all as readonly string[]);
const renaming = fc.record({
  drivers: among(4, "rbd.csi.io", "rook.rbd.csi.io", "csi.io", "x.rook.rbd.csi.io", "rbd.csi.io.x"),
  nodes: among(4, "n0", "n0-1", "x-n0", "n0-1.y", "y.n0-1"),
  sets: among(3, "s0", "s0-n0", "x-s0", "s0-n0-1"),
  spaces: among(2, "p0", "p0-s0", "x-p0"),
});
type Renaming =
  typeof NAMES extends Record<infer Kind, unknown> ? Record<Kind & string, readonly string[]> : never;

/** Replaces whole names; pods have names of sets and nodes. */
function rename(text: string, to: Renaming): string {
  const names = new Map<string, string>();
  for (const [kind, all] of Object.entries(NAMES))
    for (const [at, name] of all.entries()) names.set(name, to[kind as keyof Renaming][at] ?? name);
  for (const set of NAMES.sets)
    for (const host of NAMES.nodes) names.set(`${set}-${host}`, `${names.get(set)}-pod-${names.get(host)}`);
  return text.replace(/[A-Za-z0-9]+(?:[.-]+[A-Za-z0-9]+)*/g, (word) => names.get(word) ?? word);
}

/** What a report says, without what depends on which name comes first. */
function gistOf({ findings, nodes, drivers, registrars, healthy, summary }: ClusterReport) {
  const sorted = (all: readonly object[]) => all.map((one) => JSON.stringify(one)).sort();
  return {
    ...{ healthy, summary, registrars: sorted(registrars), drivers: sorted(drivers) },
    nodes: sorted(nodes.map(({ reason, waitingPods, ...row }) => ({ ...row, waiting: waitingPods?.length }))),
    findings: sorted(
      findings.map(({ code, status, subject, follows, nodes }) => ({
        ...{ code, status, subject, follows, nodes: nodes.toSorted() },
      })),
    ),
  };
}

propertyTest("a renaming changes only names", { runs: 25, given: renaming }, async (to) => {
  const cluster = await sickCluster();
  cluster.edit((stored) => JSON.parse(rename(JSON.stringify(stored), to)));
  const whole = rename(JSON.stringify(await (await sickCluster()).report()), to);
  expect(gistOf(await cluster.report())).toEqual(gistOf(JSON.parse(whole)));
});

const NEW = "unrelated.example.org";

/** Healthy objects that have nothing to do with the others. */
const ADDED: Readonly<Record<string, (cluster: MemoryCluster) => Promise<unknown>>> = {
  "a node": (cluster) => addNode(cluster, "node-9"),
  "a driver": async (cluster) => {
    await addNode(cluster, "node-8", { [NEW]: "i-8" });
    await cluster.create(`${STORAGE}/csidrivers`, csiDriver(NEW));
    await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("new", NEW, "node-8"));
    await deploy(cluster, daemonSet(NEW), ["node-8"], () => WELL);
  },
  "a CSIDriver": (cluster) => cluster.create(`${STORAGE}/csidrivers`, csiDriver("csi.example.com")),
  "a DaemonSet without a registrar": (cluster) => {
    const set = daemonSet("x", { name: "logs" });
    set.spec.template.spec.containers.shift();
    return deploy(cluster, set, ["node-1"], () => WELL);
  },
  "a pod that starts": (cluster) =>
    cluster.create("/api/v1/namespaces/default/pods", waitingPod("web", "node-1")),
};

test.each(Object.entries(ADDED))("%s more changes no finding", async (_what, add) => {
  const whole = await (await sickCluster()).report();
  const cluster = await sickCluster();
  await add(cluster);
  const { drivers, nodes, findings, registrars } = await cluster.report();
  expect(drivers.filter(({ name }) => name !== NEW)).toEqual(whole.drivers);
  expect(nodes.filter(({ driver }) => driver !== NEW)).toEqual(whole.nodes);
  expect(registrars.filter(({ driver }) => driver !== NEW)).toEqual(whole.registrars);
  const told = ({ followsIndex, ...finding }: ClusterReport["findings"][number]) => finding;
  expect(findings.filter(({ subject }) => subject !== NEW).map(told)).toEqual(whole.findings.map(told));
});

const OTHERS = [{ name: "x" }];
const LISTED = "listed.csi.example.com";
const podOf = (podSpec: object) => (cluster: MemoryCluster) =>
  cluster.create("/api/v1/namespaces/storage/pods", {
    metadata: { name: "alone", namespace: "storage" },
    spec: { containers: OTHERS, ...podSpec, nodeName: "node-1" },
  });
const mounting = (path: string) => podOf(onHostPath(path));

/** What can have registered a driver; or, behind `unread`, what keeps doctor from seeing it. */
const PROVIDERS: Readonly<Record<string, (cluster: MemoryCluster) => unknown>> = {
  "its DaemonSet": (cluster) => deploy(cluster, daemonSet(LISTED), ["node-1"], () => WELL),
  "its DaemonSet without a pod": (cluster) =>
    deploy(cluster, daemonSet(LISTED), [], () => WELL, { desired: 1 }),
  "the registrar of all drivers": (cluster) =>
    deploy(cluster, daemonSet("x", { path: "/var/lib/kubelet/plugins/*/csi.sock" }), [], () => WELL),
  "one of two without a name": async (cluster) => {
    for (const folder of ["a", "b"])
      await deploy(cluster, daemonSet("x", { name: folder, folder }), ["node-1"], () => WELL);
  },
  "a pod with its directory": mounting(`/data/plugins/${LISTED}`),
  "a pod with kubelet's directory": mounting("/var/lib/kubelet/"),
  "a pod with a registrar": podOf(daemonSet("x").spec.template.spec),
  "unread DaemonSets": (cluster) => cluster.refuse(["daemonsets"], "no"),
  "unread pods": (cluster) => cluster.refuse(["pods"], "no"),
};
/** A pod that runs, with a volume that no VolumeAttachment names. */
const INLINE = {
  metadata: { name: "inline", namespace: "shop" },
  spec: { nodeName: "node-1", containers: OTHERS, volumes: [{ name: "x", csi: { driver: LISTED } }] },
  status: { phase: "Running" },
};
const world = fc.record({
  hasCsiDriver: fc.boolean(),
  needs: fc.constantFrom("no", "yes", "inline", "unread"),
  providers: fc.subarray(Object.keys(PROVIDERS), { maxLength: 2 }),
});

propertyTest(
  "an entry of CSINode is told as left behind only where nothing can have made it",
  { runs: 120, given: world },
  async ({ hasCsiDriver, needs, providers }) => {
    const cluster = await makeCluster({ inCsiNode: { [DISK]: "i", [LISTED]: "j" } });
    if (hasCsiDriver) await cluster.create(`${STORAGE}/csidrivers`, csiDriver(LISTED));
    if (needs === "inline") await cluster.create("/api/v1/namespaces/shop/pods", INLINE);
    else if (needs !== "no")
      await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", LISTED, "node-1"));
    if (needs === "unread") cluster.refuse(["volumeattachments"], "no");
    for (const one of providers) await PROVIDERS[one]?.(cluster);
    const told = (await said(cluster)).filter((line) => line.includes(LISTED));
    const left = {
      no: /^CSI208 warning: .* left of an uninstall, unless a service of the host registers it -> run registrar doctor .*stays\. Else see that no .*remove the socket/,
      yes: /^CSI208 warning: .* left of an uninstall, .*; needed by 1 VolumeAttachment -> install the driver again/,
      inline:
        /^CSI208 warning: .* left of an uninstall, .*; used by 1 pod \(shop\/inline\) -> install the driver again/,
      unread:
        /left of an uninstall, unless .*; not everything could be read -> VolumeAttachments could not be listed: if something needs it, install .* remove/,
    }[needs];
    const unread = providers.filter((one) => one.startsWith("unread"));
    const uncovered = [/^CSI207 problem: .* CSINode lists the driver still/, /^CSI211 problem: /];
    const isUncovered = providers.join() === "its DaemonSet without a pod" && needs === "yes";
    if (providers.length === 0) expect(told).toEqual([expect.stringMatching(left)]);
    else if (isUncovered)
      expect(told.filter((line) => !line.startsWith("CSI209"))).toEqual(
        uncovered.map((one) => expect.stringMatching(one)),
      );
    else if (unread.length === providers.length || hasCsiDriver) expect(told).toEqual([]);
    else if (unread.length > 0) expect(told).not.toContainEqual(expect.stringMatching(/CSI208/));
    else expect(told).toEqual([expect.stringMatching(/^CSI209 warning: .*apply its CSIDriver object/)]);
  },
);

propertyTest(
  "a driver whose DaemonSet has no pod is told as it is alone, or as unknown, however many there are",
  { runs: 20, given: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }) },
  async (areServed) => {
    const cluster = createMemoryCluster();
    for (const [at, isServed] of areServed.entries()) {
      const [driver, node] = [`d${at}.csi.example.com`, `node-${at}`];
      await addNode(cluster, node, { [driver]: "i" });
      await cluster.create(`${STORAGE}/csidrivers`, csiDriver(driver));
      await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment(`of-${node}`, driver, node));
      await deploy(cluster, daemonSet(driver, { name: `d${at}` }), [], () => WELL);
      const other = {
        metadata: { name: `of-${at}`, namespace: "storage" },
        spec: { nodeName: node, ...onHostPath(`/data/${driver}`) },
      };
      if (isServed) await cluster.create("/api/v1/namespaces/storage/pods", other);
    }
    const { findings } = await cluster.report();
    for (const [at, isServed] of areServed.entries()) {
      const own = findings.filter(({ subject }) => subject === `d${at}.csi.example.com`);
      const words = own.map(({ code, status }) => `${code} ${status}`).join();
      const alone = isServed ? "CSI204 ok" : "CSI207 problem,CSI211 problem";
      expect([at, at < 5 ? alone : "CSI204 unknown"]).toEqual([at, words]);
    }
  },
);

const served = fc.record({
  isListed: fc.boolean(),
  owners: fc.array(fc.constantFrom("Node" as const, "StatefulSet" as const, "nobody" as const), {
    minLength: 1,
    maxLength: 8,
  }),
});

propertyTest(
  "what serves a driver that no DaemonSet registers is told of the nodes where it does",
  { runs: 60, given: served },
  async ({ isListed, owners }) => {
    const cluster = createMemoryCluster();
    for (const [at, kind] of owners.entries()) {
      const node = `node-${at}`;
      await addNode(cluster, node, isListed ? { [LISTED]: "i" } : {});
      if (!isListed)
        await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment(node, LISTED, node));
      const ownerReferences = [{ kind, name: "x", uid: "1", controller: true }];
      if (kind !== "nobody")
        await cluster.create("/api/v1/namespaces/storage/pods", {
          metadata: { name: `of-${at}`, namespace: "storage", ownerReferences },
          spec: { nodeName: node, ...onHostPath(`/data/${LISTED}`) },
        });
    }
    const { findings } = await cluster.report();
    const own = findings.filter(({ code }) => code === "CSI208");
    const SAID = { Node: /\(a static pod: /, StatefulSet: /\(StatefulSet x\)/, nobody: /^install .*volume/ };
    for (const [at, kind] of owners.entries()) {
      const [told, ...more] = own.filter(({ nodes }) => nodes.includes(`node-${at}`));
      const isLooked = at < 5;
      const isTold = !isListed || (isLooked && kind === "nobody");
      expect([at, told !== undefined, more]).toEqual([at, isTold, []]);
      const isUnsure = owners.length > 5 && (kind === "nobody" || !isLooked);
      if (isListed) expect(told?.text.includes("perhaps on others") ?? isUnsure).toBe(isUnsure);
      else expect(told?.fix).toMatch(SAID[isLooked ? kind : "nobody"]);
      if (!isListed) expect(told?.fix?.includes(", unless a pod")).toBe(isUnsure);
    }
  },
);

const lost = fc.record({
  isNodeWide: fc.boolean(),
  isNamed: fc.boolean(),
  isWrong: fc.boolean(),
  isNeeded: fc.boolean(),
  isReady: fc.boolean(),
  minutes: fc.constantFrom(0.2, 2, 30),
  csiNode: fc.constantFrom("gone", "unread", "there"),
});

propertyTest(
  "where a Ready node has no CSINode, doctor has the pod deleted, and does not say what kubelet has",
  { runs: 100, given: lost },
  async ({ isNodeWide, isNamed, isWrong, isNeeded, isReady, minutes, csiNode }) => {
    const at = { kind: "running", at: ago(minutes) } as const;
    const path = isNodeWide ? "/var/lib/kubelet/plugins/*/csi.sock" : isWrong ? "/csi/csi.sock" : undefined;
    const set = { ...(path && { path }), ...(!isNamed && { folder: "plugin" }) };
    const cluster = await makeCluster({ isReady, set, status: podStatus({ registrar: at, driver: at }) });
    if (isNeeded) await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", DISK, "node-1"));
    if (csiNode === "gone") cluster.edit((all) => all.filter(({ path }) => !path.endsWith("/csinodes")));
    if (csiNode === "unread") cluster.refuse(["csinodes"], "no");
    const told = await said(cluster);
    const remedy = told.filter((line) =>
      /^CSI204 problem: .*has no CSINode.* kubectl -n storage delete pod disk-node-node-1$/.test(line),
    );
    expect(remedy).toHaveLength(csiNode === "gone" && isReady && minutes > 1 ? 1 : 0);
    // A wrong path is another trouble, which cannot have caused this.
    const { findings } = await cluster.report();
    const own = findings.filter(({ text }) => text.includes("has no CSINode,"));
    expect(own.filter(({ follows }) => follows !== null)).toEqual([]);
    const isSure = /kubelet has not registered|registrar has not found/;
    if (csiNode !== "there" && minutes > 1) expect(told).not.toContainEqual(expect.stringMatching(isSure));
  },
);

test("300 pods that lack the same are one finding, with the names of a few", async () => {
  const cluster = await makeCluster();
  const broken = Array.from({ length: 300 }, (_, at) => waitingPod(`broken-${at + 100}`, "node-1", "shop"));
  for (const pod of broken) await cluster.create("/api/v1/namespaces/shop/pods", pod);
  cluster.setView((_path, one) =>
    JSON.stringify(one).includes('"name":"broken-') ? { ...one, spec: 7 } : one,
  );
  const { findings } = await cluster.report();
  expect(findings.filter(({ code }) => code === "CSI113")).toEqual([
    expect.objectContaining({
      subject:
        "pods shop/broken-100, shop/broken-101, shop/broken-102, shop/broken-103, shop/broken-104 and 295 more",
      text: "cannot be judged, all 300 for one reason: its spec has 7 where a map must be",
      command: "kubectl -n shop get pods broken-100 -o yaml",
    }),
  ]);
});

const restarted = { kind: "running", at: ago(1), restarts: 31, last: { at: ago(2), exitCode: 1 } } as const;

test.each(["registrar", "driver"])(
  "a running pod without the status of its container %s is unread, whatever the others say",
  async (name) => {
    for (const one of ["registrar", "driver"])
      for (const inCsiNode of [{ [DISK]: "i-1" }, {}]) {
        const status = podStatus({ registrar: running, driver: running, [one]: restarted });
        const containerStatuses = status.containerStatuses.filter((status) => status.name !== name);
        const cluster = await makeCluster({ inCsiNode, status: { ...status, containerStatuses } });
        expect(await said(cluster)).toContainEqual(
          expect.stringMatching(new RegExp(`^CSI113 unknown: .* it has no status of container ${name} `)),
        );
        expect((await cluster.report()).nodes.map(({ state }) => state)).not.toContain("starting");
      }
  },
);
