import { settingsOf } from "../../../src/cli/commands/doctor/settings";
import { nameDrivers } from "../../../src/doctor/cluster/driver-names";
import type { ClusterReading } from "../../../src/doctor/cluster/read-cluster";
import type { RegistrarPod } from "../../../src/doctor/cluster/read-pod";
import { readRegistrarSet } from "../../../src/doctor/cluster/read-set";
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
  const reading: ClusterReading = {
    target: { context: undefined, node: undefined, driver: undefined },
    nowMs: 0,
    sets: sets.map((changes, n) => {
      const object = daemonSet("x", { name: `set-${n}`, ...changes });
      const set = readRegistrarSet({ ...object, metadata: { ...object.metadata, uid: `${n}` } }, settingsOf);
      if (set === undefined) throw new Error("no registrar in it");
      return set;
    }),
    pods: podsOn.flatMap((nodes, n) =>
      nodes.map(
        (node): RegistrarPod => ({ setUid: `${n}`, name: "a/b", node, trouble: undefined, startedMs: 0 }),
      ),
    ),
    nodes: new Map(),
    csiNodes: new Map(
      Object.entries(csiNodes).map(([node, drivers]) => [node, new Map(drivers.map((name) => [name, "i"]))]),
    ),
    csiDrivers: new Set(csiDrivers),
    needs: needs.map((driver) => ({ node: "n", driver, pods: ["a/b"], attachments: 0 })),
    unread: [],
    unreadObjects: [],
  };
  return nameDrivers(reading).map(({ driver }) =>
    driver.kind === "every" ? "*" : `${driver.name}${driver.kind === "guessed" ? "?" : ""}`,
  );
}

test.each<readonly [what: string, sets: readonly SetChanges[], World, names: readonly string[]]>([
  ["the folder, where nothing is known", [{ folder: "x.csi" }], {}, ["x.csi?"]],
  ["a CSIDriver in the path", [{ folder: "x.csi" }], { csiDrivers: ["x.csi"] }, ["x.csi"]],
  ["a driver of a CSINode in the path", [{ folder: "x.csi" }], { csiNodes: { n: ["x.csi"] } }, ["x.csi"]],
  ["a driver that a pod waits for", [{ folder: "x.csi" }], { needs: ["x.csi"] }, ["x.csi"]],
  [
    "the longest of two",
    [{ folder: "rook.rbd.csi" }],
    { csiDrivers: ["rbd.csi", "rook.rbd.csi"] },
    ["rook.rbd.csi"],
  ],
  [
    "the host's path by the volumes, where kubelet is told the container's",
    [{ folder: "x.csi", path: "/csi/csi.sock" }],
    { csiDrivers: ["x.csi"] },
    ["x.csi"],
  ],
  [
    "an argument of the driver",
    [{ folder: "csi-nfsplugin", driverArgs: ["--drivername=nfs.csi.k8s.io"] }],
    { csiDrivers: ["nfs.csi.k8s.io", "other.csi"] },
    ["nfs.csi.k8s.io"],
  ],
  [
    "what all its nodes have, and no other DaemonSet registers",
    [{ folder: "plugin" }, { folder: "x.csi" }],
    {
      csiNodes: { a: ["x.csi", "y.csi"], b: ["x.csi", "y.csi"], c: ["z.csi"] },
      podsOn: [
        ["a", "b"],
        ["a", "b"],
      ],
    },
    ["y.csi", "x.csi"],
  ],
  [
    "a guess, where two would fit",
    [{ folder: "plugin" }],
    { csiNodes: { a: ["x.csi", "y.csi"] }, podsOn: [["a"]] },
    ["plugin?"],
  ],
  ["every driver, for a pattern", [{ path: "/var/lib/kubelet/plugins/*/csi.sock" }], {}, ["*"]],
  [
    "a Windows path",
    [{ path: "C:\\var\\lib\\kubelet\\plugins\\x.csi\\csi.sock", folder: "other" }],
    { csiDrivers: ["x.csi"] },
    ["x.csi"],
  ],
])("%s", (_what, sets, world, names) => {
  expect(namesOf(sets, world)).toEqual(names);
});
