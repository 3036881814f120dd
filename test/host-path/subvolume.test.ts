import { type HostPathVerdict, judgeHostPath } from "../../src/host-path/host-path";
import { CONTAINER, judgeByRows, K, kubeletAt, REGISTRATION, type Row, tableOf } from "../support/mount-rows";

const differs = (hostPath: string): HostPathVerdict => ({ kind: "differs", hostPath });
const onDisk = (path: string): HostPathVerdict => ({
  kind: "differs-on-disk",
  path,
  inKubeletRoot: undefined,
});
const FITS: HostPathVerdict = { kind: "fits" };

const ON_SUBVOLUMES: readonly Row[] = [
  ["0:30", "/@", "/"],
  ["0:30", "/@/home", "/home"],
];

/**
 * The host's root is a subvolume, whose name is before each path of the file system. Socket here, path that kubelet is
 * told, mounts. The registration directory is at /registration.
 */
test.each<readonly [what: string, csi: string, told: string, rows: readonly Row[], verdict: HostPathVerdict]>(
  [
    [
      "a subvolume that the host has at /",
      "/csi/csi.sock",
      `${K}/plugins/x/csi.sock`,
      kubeletAt(`/@${K}`, "0:30"),
      FITS,
    ],
    [
      "the same, told wrongly",
      "/csi/csi.sock",
      "/csi/csi.sock",
      kubeletAt(`/@${K}`, "0:30"),
      differs(`${K}/plugins/x/csi.sock`),
    ],
    [
      "a subvolume with a root that ends as another does",
      "/csi/csi.sock",
      "/csi/csi.sock",
      kubeletAt("/@/var/snap/microk8s/common/var/lib/kubelet", "0:30"),
      differs("/var/snap/microk8s/common/var/lib/kubelet/plugins/x/csi.sock"),
    ],
    [
      "a subvolume that the host has at /, the driver outside of kubelet's root",
      "/csi/csi.sock",
      "/srv/x/csi.sock",
      [CONTAINER, ["0:30", "/@/srv/x", "/csi"], ["0:30", `/@${K}/plugins_registry`, "/registration"]],
      FITS,
    ],
    [
      "the same, told wrongly",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["0:30", "/@/srv/x", "/csi"], ["0:30", `/@${K}/plugins_registry`, "/registration"]],
      differs("/srv/x/csi.sock"),
    ],
    [
      "another subvolume than kubelet's",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["0:30", "/@srv/x", "/csi"], ["0:30", `/@${K}/plugins_registry`, "/registration"]],
      onDisk("/@srv/x/csi.sock"),
    ],
    [
      "a container whose root is a subvolume",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [["0:30", "/snapshots/7", "/"], ["0:30", "/x", "/csi"], REGISTRATION],
      onDisk("/x/csi.sock"),
    ],
    ["a node on a subvolume, outside of containers", "/srv/x.sock", "/srv/x.sock", ON_SUBVOLUMES, FITS],
    ["the same, in another subvolume", "/home/me/x.sock", "/home/me/x.sock", ON_SUBVOLUMES, FITS],
    ["the same, told wrongly", "/home/me/x.sock", "/home/x.sock", ON_SUBVOLUMES, differs("/home/me/x.sock")],
    [
      "a node with a folder that is mounted twice",
      "/srv/x/csi.sock",
      "/srv/x/csi.sock",
      [
        ["8:1", "/", "/"],
        ["8:1", "/data/x", "/srv/x"],
      ],
      FITS,
    ],
  ],
)("%s: %s, kubelet is told %s", (_, csiSocketPath, kubeletRegistrationPath, rows, verdict) => {
  expect(judgeByRows(csiSocketPath, kubeletRegistrationPath, rows)).toEqual(verdict);
});

test("a mount table without a root is no reason to fail", () => {
  const mounts = tableOf([
    ["8:1", K, "/kubelet"],
    ["8:5", "/x", "/csi"],
  ]);
  const paths = { csiSocketPath: "/csi/csi.sock", kubeletRegistrationPath: "/csi/csi.sock" };
  const pluginRegistrationPath = "/kubelet/plugins_registry";
  expect(judgeHostPath({ ...paths, pluginRegistrationPath, mounts })).toEqual(FITS);
});
