import type { HostPathVerdict } from "../../src/host-path/host-path";
import { CONTAINER, judgeByRows, K, kubeletAt, REGISTRATION, type Row, USUAL } from "../support/mount-rows";

const differs = (hostPath: string): HostPathVerdict => ({ kind: "differs", hostPath });
const onDisk = (path: string, inKubeletRoot?: string): HostPathVerdict => ({
  kind: "differs-on-disk",
  path,
  inKubeletRoot,
});
const endsAlike = (path: string): HostPathVerdict => ({ kind: "ends-alike", path });
const UNKNOWN: HostPathVerdict = { kind: "unknown" };

/**
 * Kubelet's root is on a disk of its own, or may be. Socket here, path that kubelet is told, mounts.
 * The registration directory is at /registration.
 */
test.each<readonly [what: string, csi: string, told: string, rows: readonly Row[], verdict: HostPathVerdict]>(
  [
    [
      "/var is a file system of its own on the host",
      "/csi/csi.sock",
      "/csi/csi.sock",
      kubeletAt("/lib/kubelet", "8:2"),
      onDisk("/lib/kubelet/plugins/x/csi.sock", "/plugins/x/csi.sock"),
    ],
    [
      "the same, told rightly",
      "/csi/csi.sock",
      `${K}/plugins/x/csi.sock`,
      kubeletAt("/lib/kubelet", "8:2"),
      endsAlike("/lib/kubelet/plugins/x/csi.sock"),
    ],
    [
      "kubelet's root is a link, or a bind mount, on the host",
      "/csi/csi.sock",
      `${K}/plugins/x/csi.sock`,
      kubeletAt("/data/kubelet", "8:3"),
      UNKNOWN,
    ],
    [
      "a root that nobody knows",
      "/csi/csi.sock",
      "/csi/csi.sock",
      kubeletAt("/data/k", "8:3"),
      onDisk("/data/k/plugins/x/csi.sock", "/plugins/x/csi.sock"),
    ],
    [
      "the node is a container itself",
      "/csi/csi.sock",
      "/csi/csi.sock",
      kubeletAt("/var/lib/docker/volumes/1/_data/lib/kubelet", "8:1"),
      onDisk("/var/lib/docker/volumes/1/_data/lib/kubelet/plugins/x/csi.sock", "/plugins/x/csi.sock"),
    ],
    [
      "the driver's file system, mounted somewhere on the host",
      "/csi/csi.sock",
      "/mnt/data/x/csi.sock",
      [CONTAINER, ["8:5", "/x", "/csi"], REGISTRATION],
      endsAlike("/x/csi.sock"),
    ],
    [
      "another file system than kubelet's root",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["8:5", "/x", "/csi"], ["8:2", "/lib/kubelet/plugins_registry", "/registration"]],
      onDisk("/x/csi.sock"),
    ],
    [
      "a driver outside of kubelet's root, both on /var",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["8:2", "/srv/x", "/csi"], ["8:2", "/lib/kubelet/plugins_registry", "/registration"]],
      onDisk("/srv/x/csi.sock"),
    ],
    [
      "kubelet's root is a file system of its own",
      "/csi/csi.sock",
      `${K}plugins/x/csi.sock`,
      kubeletAt("", "8:4"),
      onDisk("/plugins/x/csi.sock", "/plugins/x/csi.sock"),
    ],
    [
      "/var/lib is a file system of its own on the host",
      "/csi/csi.sock",
      "/csi/csi.sock",
      kubeletAt("/kubelet", "8:2"),
      onDisk("/kubelet/plugins/x/csi.sock", "/plugins/x/csi.sock"),
    ],
    [
      "a root that nobody knows, mounted elsewhere on the host under its name",
      "/csi/csi.sock",
      "/mnt/kubelet/plugins/x/csi.sock",
      kubeletAt("/srv/kubelet", "8:3"),
      UNKNOWN,
    ],
    [
      "the same, under another name",
      "/csi/csi.sock",
      "/mnt/other/plugins/x/csi.sock",
      kubeletAt("/srv/kubelet", "8:3"),
      onDisk("/srv/kubelet/plugins/x/csi.sock", "/plugins/x/csi.sock"),
    ],
    [
      "a root that nobody knows, told as the default one",
      "/csi/csi.sock",
      `${K}/plugins/x/csi.sock`,
      kubeletAt("/data/k", "8:3"),
      UNKNOWN,
    ],
    [
      "a mount table without the registration directory",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [["8:5", "/x", "/csi"]],
      onDisk("/x/csi.sock"),
    ],
    [
      "a disk with the end of Tanzu's root, told as that",
      "/csi/csi.sock",
      "/var/vcap/data/kubelet/plugins/x/csi.sock",
      kubeletAt("/data/kubelet", "8:3"),
      endsAlike("/data/kubelet/plugins/x/csi.sock"),
    ],
    [
      "the same, by its path on the disk: the disk may be the host's root",
      "/csi/csi.sock",
      "/data/kubelet/plugins/x/csi.sock",
      kubeletAt("/data/kubelet", "8:3"),
      endsAlike("/data/kubelet/plugins/x/csi.sock"),
    ],
    [
      "the same, and another mount shows that it is the host's root",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [...kubeletAt("/data/kubelet", "8:3"), ["8:3", `${K}/pods/1-2/etc-hosts`, "/etc/hosts"]],
      differs("/data/kubelet/plugins/x/csi.sock"),
    ],
    [
      "kubelet's root is a disk of its own, told rightly",
      "/csi/csi.sock",
      "/mnt/k/plugins/x/csi.sock",
      kubeletAt("", "8:4"),
      endsAlike("/plugins/x/csi.sock"),
    ],
    [
      "the same, with a pattern and the path of the container",
      "/plugins/*/csi.sock",
      "/plugins/*/csi.sock",
      [CONTAINER, ["8:4", "/plugins", "/plugins"], ["8:4", "/plugins_registry", "/registration"]],
      onDisk("/plugins/*/csi.sock", "/plugins/*/csi.sock"),
    ],
    [
      "a disk with the path of a known root on it, mounted somewhere on the host",
      "/csi/csi.sock",
      `/data${K}/plugins/x/csi.sock`,
      USUAL,
      endsAlike(`${K}/plugins/x/csi.sock`),
    ],
    [
      "a disk that the host and the container mount alike",
      "/data/x/csi.sock",
      "/data/x/csi.sock",
      [CONTAINER, ["8:5", "/x", "/data/x"], REGISTRATION],
      endsAlike("/x/csi.sock"),
    ],
    [
      "a whole disk, and a folder of it",
      "/data/x/csi.sock",
      "/other/csi.sock",
      [CONTAINER, ["8:5", "/", "/data"], REGISTRATION],
      onDisk("/x/csi.sock"),
    ],
    [
      "a container that has kubelet's whole root elsewhere",
      "/host/plugins/x/csi.sock",
      "/host/plugins/x/csi.sock",
      [CONTAINER, ["8:1", K, "/host"]],
      differs(`${K}/plugins/x/csi.sock`),
    ],
    [
      "a registration directory that is not called as kubelet's is",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["8:3", "/k/plugins/x", "/csi"], ["8:3", "/k/other", "/registration"]],
      onDisk("/k/plugins/x/csi.sock"),
    ],
  ],
)("%s: %s, kubelet is told %s", (_, csiSocketPath, kubeletRegistrationPath, rows, verdict) => {
  expect(judgeByRows(csiSocketPath, kubeletRegistrationPath, rows)).toEqual(verdict);
});
