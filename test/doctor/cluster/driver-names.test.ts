import { nameDrivers } from "../../../src/doctor/cluster/judge/places";
import { readRegistrarSet } from "../../../src/doctor/cluster/read/set";
import { daemonSet, type SetChanges } from "../../support/cluster-objects";

interface World {
  readonly csiDrivers?: readonly string[];
  /** Node -> drivers. */
  readonly csiNodes?: Readonly<Record<string, readonly string[]>>;
  /** Where the DaemonSet with this number has a pod that is well. */
  readonly podsOn?: readonly (readonly string[])[];
  readonly needs?: readonly string[];
}

function namesOf(
  sets: readonly SetChanges[],
  { csiDrivers = [], csiNodes = {}, podsOn = [], needs = [] }: World,
) {
  const drivers = nameDrivers({
    sets: sets.map((changes, n) => {
      const object = daemonSet("x", { name: `set-${n}`, ...changes });
      const set = readRegistrarSet({ ...object, metadata: { ...object.metadata, uid: `${n}` } });
      if (set === undefined) throw new Error("no registrar in it");
      return set;
    }),
    pods: podsOn.flatMap((nodes, n) =>
      nodes.map((node) => ({
        setUid: `${n}`,
        ...{ name: "a/b", node, trouble: undefined, startedMs: 0, createdMs: 0 },
        running: { registrars: [], dropped: [] },
      })),
    ),
    csiNodes: new Map(
      Object.entries(csiNodes).map(([node, drivers]) => [node, new Map(drivers.map((name) => [name, "i"]))]),
    ),
    csiDrivers: new Set(csiDrivers),
    needs: needs.map((driver) => ({ node: "n", driver, pods: ["a/b"], attachments: 0 })),
  });
  return drivers.map(({ driver }) => `${driver.name}${driver.kind === "guessed" ? "?" : ""}`).join(" ");
}

const BOTH = ["a", "b"];
const byNodes: World = {
  csiNodes: { a: ["x.csi", "y.csi"], b: ["x.csi", "y.csi"], c: ["z.csi"] },
  podsOn: [BOTH, BOTH],
};
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
    "the host's path by the volumes, where kubelet gets the container's",
    "x.csi",
    { csiDrivers: ["x.csi"] },
    [{ folder: "x.csi", path: "/csi/csi.sock" }],
  ],
  ["an argument of the driver", "nfs.csi.k8s.io", { csiDrivers: ["nfs.csi.k8s.io", "other.csi"] }, [nfs]],
  ["what all its nodes have, and no other DaemonSet registers", "y.csi x.csi", byNodes, [PLUGIN, ...X]],
  [
    "a guess, where two would fit",
    "plugin?",
    { csiNodes: { a: ["x.csi", "y.csi"] }, podsOn: [["a"]] },
    [PLUGIN],
  ],
  ["every driver, for a pattern", "(every driver)", {}, [{ path: "/var/lib/kubelet/plugins/*/csi.sock" }]],
  [
    "a Windows path",
    "x.csi",
    { csiDrivers: ["x.csi"] },
    [{ path: "C:\\var\\lib\\kubelet\\plugins\\x.csi\\csi.sock", folder: "other" }],
  ],
])("%s", (_what, names, world, sets) => {
  expect(namesOf(sets, world)).toBe(names);
});
