import { type ClusterLists, surroundingsOf } from "../../../../src/tools/doctor/cluster/judge/surroundings";
import type { Resource } from "../../../../src/tools/doctor/cluster/read/reader";
import { readRegistrarSet } from "../../../../src/tools/doctor/cluster/read/set";
import { driverNamed, isGuess, nameDrivers } from "../../../../src/tools/doctor/cluster/read/units";
import { renderClusterTable } from "../../../../src/tools/doctor/cluster/table";
import { itemsOf, open } from "../../../../src/tools/doctor/findings/opened";
import { listFrom, startReading } from "../../../../src/tools/doctor/findings/seen";
import { daemonSet, type SetChanges, storedSet } from "../../../support/cluster-objects";
import { makeCluster, WELL } from "./memory-cluster";
import { DISK, deploy } from "./sick-cluster";

interface World {
  readonly csiDrivers?: readonly string[];
  /** Of a node. */
  readonly csiNode?: readonly string[];
  readonly needs?: readonly string[];
  /** The driver that is asked for. */
  readonly driver?: string;
  readonly unread?: Resource;
}

function listsOf(
  sets: readonly SetChanges[],
  { csiDrivers = [], csiNode = [], needs = [], driver, unread }: World,
) {
  const reading = startReading<Resource>();
  const why = { kind: "list", failure: "forbidden", message: "no" } as const;
  const list = <Item>(part: Resource, items: readonly Item[]) =>
    reading.list(items, unread === part ? [{ part, subject: part, why }] : []);
  const setOf = (changes: SetChanges, n: number) => {
    const object = daemonSet("x", { name: `set-${n}`, ...changes });
    return readRegistrarSet(...storedSet(object, `${n}`)) ?? [];
  };
  return {
    target: { context: undefined, node: undefined, driver },
    sets: list("daemonsets", sets.flatMap(setOf)),
    csiNodes: list("csinodes", [
      { node: "n", createdMs: 0, drivers: new Set(csiNode), owners: listFrom<string>([]) },
    ]),
    csiDrivers: list("csidrivers", csiDrivers),
    needs: list(
      "events",
      needs.map((driver) => ({ driver })),
    ),
  };
}

function namesOf(sets: readonly SetChanges[], world: World): string {
  const drivers = nameDrivers(listsOf(sets, world));
  const names = itemsOf(drivers).map((unit) => `${open(unit.driver).told}${isGuess(unit) ? "?" : ""}`);
  return names.join(" ");
}

const NFS = "nfs.csi.k8s.io";
const nfs = { folder: "csi-nfsplugin", driverArgs: [`--drivername=${NFS}`] };

const X = [{ folder: "x.csi" }];

test.each<readonly [what: string, names: string, World, sets: readonly SetChanges[]]>([
  ["the folder, where nothing is known", "x.csi?", {}, X],
  ["the one that is asked for, in the arguments", `${NFS}?`, { driver: NFS }, [nfs]],
  ["the one that is asked for, in the path", "x.csi?", { driver: "x.csi" }, [{ folder: "x.csi/v1" }]],
  ["the folder, where none names the one that is asked for", "x.csi?", { driver: "y.csi" }, X],
  ["a CSIDriver in the path", "x.csi", { csiDrivers: ["x.csi"] }, X],
  ["a driver of a CSINode in the path", "x.csi", { csiNode: ["x.csi"] }, X],
  ["a driver that a pod waits for", "x.csi", { needs: ["x.csi"] }, X],
  ["a socket's own name", "x.csi", { csiDrivers: ["x.csi"] }, [{ path: "/csi/x.csi.sock", folder: "other" }]],
  ["the longest of two", "a.b.csi", { csiDrivers: ["b.csi", "a.b.csi"] }, [{ folder: "b.csi/a.b.csi/v1" }]],
  [
    "a name inside another one's",
    "rook.rbd.csi",
    { csiDrivers: ["rbd.csi", "rook.rbd.csi"] },
    [{ folder: "rook.rbd.csi" }],
  ],
  ["no name inside the folder's", "rook.rbd.csi?", { csiDrivers: ["rbd.csi"] }, [{ folder: "rook.rbd.csi" }]],
  ["the host's path", "x.csi", { csiDrivers: ["x.csi"] }, [{ folder: "x.csi", path: "/csi/csi.sock" }]],
  ["an argument of the driver", NFS, { csiDrivers: [NFS, "other.csi"] }, [nfs]],
  [
    "a guess, where another DaemonSet has the name",
    `csi-nfsplugin? ${NFS}`,
    { needs: [NFS] },
    [nfs, { folder: NFS }],
  ],
  [
    "a guess, where CSIDrivers could not be listed",
    "csi-nfsplugin?",
    { needs: [NFS], unread: "csidrivers" },
    [nfs],
  ],
  [
    "a guess, where DaemonSets could not be listed",
    "csi-nfsplugin?",
    { needs: [NFS], unread: "daemonsets" },
    [nfs],
  ],
  ["every driver, for a pattern", "(every driver)", {}, [{ path: "/var/lib/kubelet/plugins/*/csi.sock" }]],
  [
    "every driver, for a pattern beside a path that is not read",
    "(every driver)",
    {},
    [{ csiAddress: "/csi/*/csi.sock", path: "$(SOCKETS)" }],
  ],
  ["a Windows path", "x.csi", { csiDrivers: ["x.csi"] }, [{ path: "C:\\x.csi\\csi.sock", folder: "other" }]],
])("%s", (_what, names, world, sets) => {
  expect(namesOf(sets, world)).toBe(names);
});

const answers = { yes: () => "yes", no: () => "no", unknown: () => "unknown" } as never;

test.each<readonly [what: string, answers: string, name: string, World]>([
  ["a guess may have any name", "unknown unknown", "y.csi", {}],
  ["a guess may have one that a node has", "unknown yes", "y.csi", { csiNode: ["y.csi", "z.csi"] }],
  ["a guess need not have the one that is guessed", "unknown unknown", "x.csi", {}],
  ["what is known has no other name", "no no", "y.csi", { csiNode: ["x.csi"] }],
])("%s: %s", (_what, expected, name, world) => {
  const { needs, ...lists } = listsOf(X, world);
  const { unitsOfDriver, driverNames } = surroundingsOf(
    lists as unknown as ClusterLists,
    needs as never,
    undefined,
  );
  const isKnown = driverNames.contains((one) => one === name);
  expect(`${unitsOfDriver(driverNamed(name)).contains()(answers)} ${isKnown(answers)}`).toBe(expected);
});

test.each([
  ["/csi/*/csi.sock", "$(SOCKETS)", []],
  ["/csi/$(X)/csi.sock", "$(SOCKETS)", ["CSI204 unknown"]],
  ["/csi/$(X)/csi.sock", "/x.csi/csi.sock", ["CSI204 problem"]],
  ["/csi/csi.sock", "$(SOCKETS)", ["CSI204 problem"]],
])(
  "a registrar with %s and %s that may be node-wide need not be in CSINode",
  async (csiAddress, path, said) => {
    const cluster = await makeCluster({ inCsiNode: {}, hasCsiDriver: false, set: { csiAddress, path } });
    const { findings } = await cluster.report();
    const judged = findings.filter(({ code, status }) => code === "CSI204" && status !== "ok");
    expect(judged.map(({ code, status }) => `${code} ${status}`)).toEqual(said);
  },
);

test("on how many nodes a driver is registered whose name is a guess is not known", async () => {
  const set = { path: "/csi/csi.sock", folder: "plugin" };
  const cluster = await makeCluster({ inCsiNode: { x: "i", y: "i" }, hasCsiDriver: false, set });
  const report = await cluster.report();
  const guess = { name: "plugin", guessed: true, nodes: 1, registered: null, csiDriver: null };
  expect(report.drivers).toContainEqual(expect.objectContaining(guess));
  const text = renderClusterTable(report, { width: 100, colors: false });
  expect(text).toMatch(/^plugin \(guess\) +\? of 1 +\? +storage\/disk-node$/m);
});

test("two drivers whose names are the same guess are not one driver with two registrars", async () => {
  const set = { path: "/csi/csi.sock", folder: "plugins" };
  const cluster = await makeCluster({ inCsiNode: { x: "i", y: "i" }, hasCsiDriver: false, set });
  await deploy(cluster, daemonSet(DISK, { ...set, name: "other" }), ["node-1"], () => WELL);
  const { findings, nodes, drivers } = await cluster.report();
  expect(nodes.map(({ driver, state }) => `${driver} ${state}`)).toEqual([
    ...["plugins unseen", "plugins unseen"],
    ...["x registered", "y registered"],
  ]);
  expect(drivers.map(({ name, daemonSets }) => `${name} ${daemonSets}`).slice(0, 2)).toEqual([
    "plugins storage/disk-node",
    "plugins storage/other",
  ]);
  const unseen = findings.filter(({ code }) => code === "CSI204");
  expect(unseen.map(({ status, text }) => `${status} ${text}`).slice(0, 2)).toEqual(
    Array(2).fill("unknown is possibly registered: the name of a registrar's driver is not known"),
  );
  expect(findings.filter(({ code }) => code === "CSI206")).toEqual([]);
});

test("whether a DaemonSet without pods is that of the driver that is asked for is not known without CSIDrivers", async () => {
  const set = { folder: "plugins", driverArgs: [`--name=${NFS}`] };
  const cluster = await makeCluster({ inCsiNode: {}, hasCsiDriver: false, podsOn: [], desired: 0, set });
  const ofTarget = async () =>
    (await cluster.report({ driver: NFS })).findings
      .filter(({ code }) => code === "CSI208")
      .map(({ status, subject, text }) => `${status}: ${subject} ${text}`);
  expect(await ofTarget()).toEqual([
    `problem: ${NFS} is in no CSINode, and DaemonSet storage/disk-node has no pods: no node fits its nodeSelector, affinity and tolerations`,
  ]);
  cluster.refuse(["csidrivers"], "no");
  expect(await ofTarget()).toEqual([`unknown: ${NFS} is possibly installed: CSIDrivers could not be listed`]);
});
