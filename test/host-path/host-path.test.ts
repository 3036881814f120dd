import type { HostPathVerdict } from "../../src/host-path/host-path";
import { CONTAINER, judgeByRows, K, kubeletAt, REGISTRATION, type Row, USUAL } from "../support/mount-rows";

const differs = (hostPath: string): HostPathVerdict => ({ kind: "differs", hostPath });
const FITS: HostPathVerdict = { kind: "fits" };
const UNKNOWN: HostPathVerdict = { kind: "unknown" };

/** Socket here, path that kubelet is told, mounts. The registration directory is at /registration. */
test.each<readonly [what: string, csi: string, told: string, rows: readonly Row[], verdict: HostPathVerdict]>(
  [
    ["the usual container", "/csi/csi.sock", `${K}/plugins/x/csi.sock`, USUAL, FITS],
    [
      "the path of the container, told to kubelet",
      "/csi/x.sock",
      "/csi/x.sock",
      USUAL,
      differs(`${K}/plugins/x/x.sock`),
    ],
    [
      "another folder under plugins",
      "/csi/csi.sock",
      `${K}/plugins/y/csi.sock`,
      USUAL,
      differs(`${K}/plugins/x/csi.sock`),
    ],
    [
      "equal paths, mounted at the same place on both sides",
      `${K}/plugins/x/csi.sock`,
      `${K}/plugins/x/csi.sock`,
      [CONTAINER, ["8:1", K, K], REGISTRATION],
      FITS,
    ],
    [
      "microk8s, told the default root",
      "/csi/csi.sock",
      "/csi/csi.sock",
      kubeletAt("/var/snap/microk8s/common/var/lib/kubelet", "8:1"),
      differs("/var/snap/microk8s/common/var/lib/kubelet/plugins/x/csi.sock"),
    ],
    [
      "k0s",
      "/csi/csi.sock",
      "/var/lib/k0s/kubelet/plugins/x/csi.sock",
      kubeletAt("/var/lib/k0s/kubelet", "8:1"),
      FITS,
    ],
    [
      "a subPath of the volume",
      "/csi/csi.sock",
      `${K}/plugins/csi.sock`,
      [CONTAINER, ["8:1", `${K}/plugins/x/sub`, "/csi"], REGISTRATION],
      differs(`${K}/plugins/x/sub/csi.sock`),
    ],
    [
      "a mount inside of a mount: the inner one counts",
      "/host/plugins/x/csi.sock",
      `${K}/plugins/x/csi.sock`,
      [CONTAINER, ["8:1", K, "/host"], ["8:1", "/srv/x", "/host/plugins/x"], REGISTRATION],
      differs("/srv/x/csi.sock"),
    ],
    [
      "the whole host under /host",
      `/host${K}/plugins/x/csi.sock`,
      `/host${K}/plugins/x/csi.sock`,
      [CONTAINER, ["8:1", "/", "/host"], REGISTRATION],
      differs(`${K}/plugins/x/csi.sock`),
    ],
    [
      "a pattern for all drivers",
      "/plugins/*/csi.sock",
      "/plugins/*/csi.sock",
      [CONTAINER, ["8:1", `${K}/plugins`, "/plugins"], REGISTRATION],
      differs(`${K}/plugins/*/csi.sock`),
    ],
    [
      "an emptyDir volume",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["8:1", `${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s`, "/csi"], REGISTRATION],
      { kind: "empty-dir" },
    ],
    [
      "no volume at all",
      "/csi/csi.sock",
      `${K}/plugins/x/csi.sock`,
      [CONTAINER, REGISTRATION],
      { kind: "not-mounted", folder: "/csi" },
    ],
    ["a developer's container, with nothing mounted", "/tmp/a.sock", "/tmp/a.sock", [CONTAINER], FITS],
    ["a node, outside of containers", `${K}/plugins/x/s`, `${K}/plugins/x/s`, [["8:1", "/", "/"]], FITS],
    [
      "a file system that is all of the mount",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["0:9", "/", "/csi", "tmpfs"], REGISTRATION],
      UNKNOWN,
    ],
    ["slashes that are doubled", "/csi/csi.sock", `${K}//plugins/x/csi.sock`, USUAL, FITS],
    [
      "the default root, told as one that nobody knows",
      "/csi/csi.sock",
      "/mnt/kubelet/plugins/x/csi.sock",
      USUAL,
      differs(`${K}/plugins/x/csi.sock`),
    ],
    [
      "an emptyDir volume, by its path on the host",
      "/s/csi.sock",
      `${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s/csi.sock`,
      [CONTAINER, ["8:1", `${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s`, "/s"], REGISTRATION],
      FITS,
    ],
    [
      "a container's layers for both",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["0:51", "/", "/registration", "overlay"]],
      FITS,
    ],
    ["another path in a developer's container", "/csi/csi.sock", "/other/csi.sock", [CONTAINER], UNKNOWN],
    [
      "nor a file system of the host",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [["0:50", "/", "/csi", "overlay"]],
      UNKNOWN,
    ],
    [
      "the whole root of the host, told as it is called in the container",
      "/host/srv/x/csi.sock",
      "/host/srv/x/csi.sock",
      [CONTAINER, ["8:1", "/", "/host"], REGISTRATION],
      differs("/srv/x/csi.sock"),
    ],
    [
      "one known root, told as another: it may be a link",
      "/csi/csi.sock",
      "/var/lib/k0s/kubelet/plugins/x/csi.sock",
      USUAL,
      UNKNOWN,
    ],
    [
      "a node, told a path that is not the driver's",
      "/srv/x/csi.sock",
      "/srv/y/csi.sock",
      [["8:1", "/", "/"]],
      differs("/srv/x/csi.sock"),
    ],
    ["a container's layer, told a longer path", "/csi/csi.sock", "/x/csi/csi.sock", [CONTAINER], UNKNOWN],
    ["no mount table", "/csi/csi.sock", "/csi/csi.sock", [], UNKNOWN],
    ["a relative path", "/csi/csi.sock", "csi.sock", [CONTAINER], UNKNOWN],
  ],
)("%s: %s, kubelet is told %s", (_, csiSocketPath, kubeletRegistrationPath, rows, verdict) => {
  expect(judgeByRows(csiSocketPath, kubeletRegistrationPath, rows)).toEqual(verdict);
});
