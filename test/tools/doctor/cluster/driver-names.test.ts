import { nameDrivers } from "../../../../src/tools/doctor/cluster/judge/units";
import type { PodTrouble } from "../../../../src/tools/doctor/cluster/read/pod";
import type { Resource } from "../../../../src/tools/doctor/cluster/read/reader";
import { readRegistrarSet } from "../../../../src/tools/doctor/cluster/read/set";
import { startReading } from "../../../../src/tools/doctor/findings/seen";
import { daemonSet, type SetChanges } from "../../../support/cluster-objects";

interface World {
  readonly csiDrivers?: readonly string[];
  /** Node -> drivers. */
  readonly csiNodes?: Readonly<Record<string, readonly string[]>>;
  /** Where the DaemonSet with this number has a pod that is well. */
  readonly podsOn?: readonly (readonly string[])[];
  /** Where the first DaemonSet has a pod that is not. */
  readonly brokenOn?: readonly string[];
  readonly needs?: readonly string[];
  readonly unread?: readonly Resource[];
}

function namesOf(
  sets: readonly SetChanges[],
  { csiDrivers = [], csiNodes = {}, podsOn = [], brokenOn = [], needs = [], unread = [] }: World,
) {
  const podOf = (n: number, node: string, trouble?: PodTrouble) => ({
    setUid: `${n}`,
    ...{ uid: "u", name: "a/b", node, trouble, startedMs: 0, isLeaving: false, unready: [] },
    running: { registrars: [], dropped: [] },
  });
  const reading = startReading<Resource>();
  const list = <Item>(resource: Resource, items: readonly Item[]) =>
    reading.list(
      items,
      unread.filter((one) => one === resource).map((part) => ({ part, subject: part, why: AWAY })),
    );
  const drivers = nameDrivers({
    sets: list(
      "daemonsets",
      sets.map((changes, n) => {
        const object = daemonSet("x", { name: `set-${n}`, ...changes });
        const set = readRegistrarSet(
          {
            ...object,
            metadata: { ...object.metadata, uid: `${n}`, creationTimestamp: "2026-11-22T12:00:00Z" },
          },
          n,
        );
        if (set === undefined) throw new Error("no registrar in it");
        return set;
      }),
    ),
    pods: list("pods", [
      ...podsOn.flatMap((nodes, n) => nodes.map((node) => podOf(n, node))),
      ...brokenOn.map((node) => podOf(0, node, { kind: "unscheduled", message: "" })),
    ]),
    csiNodes: list(
      "csinodes",
      Object.entries(csiNodes).map(([node, names]) => ({
        node,
        createdMs: 0,
        drivers: new Set(names),
        owner: undefined,
      })),
    ),
    csiDrivers: list("csidrivers", csiDrivers),
    needs: list(
      "events",
      needs.map((driver) => ({ driver })),
    ),
  });
  const names = drivers.each(({ driver }) => `${driver.name}${driver.kind === "guessed" ? "?" : ""}`);
  return [...names].join(" ");
}

const AWAY = { kind: "list", failure: "forbidden", message: "no" } as const;
const BOTH = ["a", "b"];
const byNodes: World = { csiNodes: { a: ["x.csi", "y.csi"], b: ["x.csi", "y.csi"] }, podsOn: [BOTH, BOTH] };
const apart: World = { csiNodes: { a: ["x.csi", "y.csi"], b: ["x.csi"] }, podsOn: [["a"], ["b"]] };
const byOne: World = { csiNodes: { a: ["y.csi"], b: [] } };
const unlisted: World = { ...byOne, podsOn: [["a"]], unread: ["csidrivers"] };
const nfs = { folder: "csi-nfsplugin", driverArgs: ["--drivername=nfs.csi.k8s.io"] };

const X = [{ folder: "x.csi" }];
const PLUGIN = { folder: "plugin" };

test.each<readonly [what: string, names: string, World, sets: readonly SetChanges[]]>([
  ["the folder, where nothing is known", "x.csi?", {}, X],
  ["a CSIDriver in the path", "x.csi", { csiDrivers: ["x.csi"] }, X],
  ["a driver of a CSINode in the path", "x.csi", { csiNodes: { n: ["x.csi"] } }, X],
  ["a driver that a pod waits for", "x.csi", { needs: ["x.csi"] }, X],
  ["the longest of two", "a.b.csi", { csiDrivers: ["b.csi", "a.b.csi"] }, [{ folder: "a.b.csi" }]],
  [
    "a name inside another one's",
    "rook.rbd.csi",
    { csiDrivers: ["rbd.csi", "rook.rbd.csi"] },
    [{ folder: "rook.rbd.csi" }],
  ],
  ["no name inside the folder's", "rook.rbd.csi?", { csiDrivers: ["rbd.csi"] }, [{ folder: "rook.rbd.csi" }]],
  ["the host's path", "x.csi", { csiDrivers: ["x.csi"] }, [{ folder: "x.csi", path: "/csi/csi.sock" }]],
  ["an argument of the driver", "nfs.csi.k8s.io", { csiDrivers: ["nfs.csi.k8s.io", "other.csi"] }, [nfs]],
  ["what all its nodes have, and no other DaemonSet registers", "y.csi x.csi", byNodes, [PLUGIN, ...X]],
  ["a guess, where two fit", "plugin?", { csiNodes: { a: ["x.csi", "y.csi"] }, podsOn: [["a"]] }, [PLUGIN]],
  ["a guess, where it has no pod", "plugin?", { csiDrivers: ["x.csi"] }, [PLUGIN]],
  ["a guess, where one of its nodes has no CSINode", "plugin?", { ...byOne, podsOn: [["a", "z"]] }, [PLUGIN]],
  ["by its own nodes, and not by another DaemonSet's", "y.csi x.csi", apart, [PLUGIN, ...X]],
  ["by the nodes where its pods are well", "y.csi", { ...byOne, podsOn: [["a"]], brokenOn: ["b"] }, [PLUGIN]],
  ["a guess, where CSIDrivers could not be listed", "plugin?", { ...unlisted }, [PLUGIN]],
  ["every driver, for a pattern", "(every driver)", {}, [{ path: "/var/lib/kubelet/plugins/*/csi.sock" }]],
  ["a Windows path", "x.csi", { csiDrivers: ["x.csi"] }, [{ path: "C:\\x.csi\\csi.sock", folder: "other" }]],
])("%s", (_what, names, world, sets) => {
  expect(namesOf(sets, world)).toBe(names);
});
