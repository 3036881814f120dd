import { explainHostPath, type HostPathVerdict, judgeHostPath } from "../src/host-path";
import { parseMountinfo } from "../src/mounts";

/** A mount as in mountinfo: device, folder of its file system, where it is mounted, file system. */
type Row = readonly [device: string, root: string, mountPoint: string, fileSystem?: string];

const tableOf = (rows: readonly Row[]) =>
  parseMountinfo(
    rows
      .map(
        ([device, root, at, type = "ext4"], index) => `${index} 1 ${device} ${root} ${at} rw - ${type} x rw`,
      )
      .join("\n"),
  );

const CONTAINER: Row = ["0:50", "/", "/", "overlay"];
const differs = (hostPath: string): HostPathVerdict => ({ kind: "differs", hostPath });
const FITS: HostPathVerdict = { kind: "fits" };
const K = "/var/lib/kubelet";

/** Socket here, path that kubelet is told, mounts. The registration directory is at /registration. */
test.each<readonly [what: string, csi: string, told: string, rows: readonly Row[], verdict: HostPathVerdict]>(
  [
    [
      "the usual container",
      "/csi/csi.sock",
      `${K}/plugins/x/csi.sock`,
      [CONTAINER, ["8:1", `${K}/plugins/x`, "/csi"], ["8:1", `${K}/plugins_registry`, "/registration"]],
      FITS,
    ],
    [
      "the path of the container, told to kubelet",
      "/csi/x.sock",
      "/csi/x.sock",
      [CONTAINER, ["8:1", `${K}/plugins/x`, "/csi"], ["8:1", `${K}/plugins_registry`, "/registration"]],
      differs(`${K}/plugins/x/x.sock`),
    ],
    [
      "another folder under plugins",
      "/csi/csi.sock",
      `${K}/plugins/y/csi.sock`,
      [CONTAINER, ["8:1", `${K}/plugins/x`, "/csi"], ["8:1", `${K}/plugins_registry`, "/registration"]],
      differs(`${K}/plugins/x/csi.sock`),
    ],
    [
      "equal paths, mounted at the same place on both sides",
      `${K}/plugins/x/csi.sock`,
      `${K}/plugins/x/csi.sock`,
      [CONTAINER, ["8:1", K, K], ["8:1", `${K}/plugins_registry`, "/registration"]],
      FITS,
    ],
    [
      "/var is a file system of its own on the host",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [
        CONTAINER,
        ["8:2", "/lib/kubelet/plugins/x", "/csi"],
        ["8:2", "/lib/kubelet/plugins_registry", "/registration"],
      ],
      differs(`${K}/plugins/x/csi.sock`),
    ],
    [
      "the same, told rightly",
      "/csi/csi.sock",
      `${K}/plugins/x/csi.sock`,
      [
        CONTAINER,
        ["8:2", "/lib/kubelet/plugins/x", "/csi"],
        ["8:2", "/lib/kubelet/plugins_registry", "/registration"],
      ],
      FITS,
    ],
    [
      "kubelet's root is a link, or a bind mount, on the host",
      "/csi/csi.sock",
      `${K}/plugins/x/csi.sock`,
      [
        CONTAINER,
        ["8:3", "/data/kubelet/plugins/x", "/csi"],
        ["8:3", "/data/kubelet/plugins_registry", "/registration"],
      ],
      FITS,
    ],
    [
      "a root that nobody knows",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["8:3", "/data/k/plugins/x", "/csi"], ["8:3", "/data/k/plugins_registry", "/registration"]],
      differs("/data/k/plugins/x/csi.sock"),
    ],
    [
      "the node is a container itself",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [
        CONTAINER,
        ["8:1", "/var/lib/docker/volumes/1/_data/lib/kubelet/plugins/x", "/csi"],
        ["8:1", "/var/lib/docker/volumes/1/_data/lib/kubelet/plugins_registry", "/registration"],
      ],
      differs(`${K}/plugins/x/csi.sock`),
    ],
    [
      "microk8s, told the default root",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [
        CONTAINER,
        ["8:1", "/var/snap/microk8s/common/var/lib/kubelet/plugins/x", "/csi"],
        ["8:1", "/var/snap/microk8s/common/var/lib/kubelet/plugins_registry", "/registration"],
      ],
      differs("/var/snap/microk8s/common/var/lib/kubelet/plugins/x/csi.sock"),
    ],
    [
      "k0s",
      "/csi/csi.sock",
      "/var/lib/k0s/kubelet/plugins/x/csi.sock",
      [
        CONTAINER,
        ["8:1", "/var/lib/k0s/kubelet/plugins/x", "/csi"],
        ["8:1", "/var/lib/k0s/kubelet/plugins_registry", "/registration"],
      ],
      FITS,
    ],
    [
      "a subPath of the volume",
      "/csi/csi.sock",
      `${K}/plugins/csi.sock`,
      [CONTAINER, ["8:1", `${K}/plugins/x/sub`, "/csi"], ["8:1", `${K}/plugins_registry`, "/registration"]],
      differs(`${K}/plugins/x/sub/csi.sock`),
    ],
    [
      "a mount inside of a mount: the inner one counts",
      "/host/plugins/x/csi.sock",
      `${K}/plugins/x/csi.sock`,
      [
        CONTAINER,
        ["8:1", K, "/host"],
        ["8:1", "/srv/x", "/host/plugins/x"],
        ["8:1", `${K}/plugins_registry`, "/registration"],
      ],
      differs("/srv/x/csi.sock"),
    ],
    [
      "the whole host under /host",
      `/host${K}/plugins/x/csi.sock`,
      `/host${K}/plugins/x/csi.sock`,
      [CONTAINER, ["8:1", "/", "/host"], ["8:1", `${K}/plugins_registry`, "/registration"]],
      differs(`${K}/plugins/x/csi.sock`),
    ],
    [
      "a pattern for all drivers",
      "/plugins/*/csi.sock",
      "/plugins/*/csi.sock",
      [CONTAINER, ["8:1", `${K}/plugins`, "/plugins"], ["8:1", `${K}/plugins_registry`, "/registration"]],
      differs(`${K}/plugins/*/csi.sock`),
    ],
    [
      "an emptyDir volume",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [
        CONTAINER,
        ["8:1", `${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s`, "/csi"],
        ["8:1", `${K}/plugins_registry`, "/registration"],
      ],
      { kind: "empty-dir" },
    ],
    [
      "no volume at all",
      "/csi/csi.sock",
      `${K}/plugins/x/csi.sock`,
      [CONTAINER, ["8:1", `${K}/plugins_registry`, "/registration"]],
      { kind: "not-mounted", folder: "/csi" },
    ],
    ["a developer's container, with nothing mounted", "/tmp/a.sock", "/tmp/a.sock", [CONTAINER], FITS],
    ["a node, outside of containers", `${K}/plugins/x/s`, `${K}/plugins/x/s`, [["8:1", "/", "/"]], FITS],
    [
      "a file system that is all of the mount",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["0:9", "/", "/csi", "tmpfs"], ["8:1", `${K}/plugins_registry`, "/registration"]],
      { kind: "unknown" },
    ],
    [
      "slashes that are doubled",
      "/csi/csi.sock",
      `${K}//plugins/x/csi.sock`,
      [CONTAINER, ["8:1", `${K}/plugins/x`, "/csi"], ["8:1", `${K}/plugins_registry`, "/registration"]],
      FITS,
    ],
    [
      "the driver's file system, mounted somewhere on the host",
      "/csi/csi.sock",
      "/mnt/data/x/csi.sock",
      [CONTAINER, ["8:5", "/x", "/csi"], ["8:1", `${K}/plugins_registry`, "/registration"]],
      FITS,
    ],
    [
      "another file system than kubelet's root",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["8:5", "/x", "/csi"], ["8:2", "/lib/kubelet/plugins_registry", "/registration"]],
      differs("/x/csi.sock"),
    ],
    [
      "a driver outside of kubelet's root, both on /var",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["8:2", "/srv/x", "/csi"], ["8:2", "/lib/kubelet/plugins_registry", "/registration"]],
      differs("/var/srv/x/csi.sock"),
    ],
    [
      "kubelet's root is a file system of its own",
      "/csi/csi.sock",
      `${K}plugins/x/csi.sock`,
      [CONTAINER, ["8:4", "/plugins/x", "/csi"], ["8:4", "/plugins_registry", "/registration"]],
      differs("/plugins/x/csi.sock"),
    ],
    [
      "/var/lib is a file system of its own on the host",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [
        CONTAINER,
        ["8:2", "/kubelet/plugins/x", "/csi"],
        ["8:2", "/kubelet/plugins_registry", "/registration"],
      ],
      differs(`${K}/plugins/x/csi.sock`),
    ],
    [
      "a root that nobody knows, mounted elsewhere on the host under its name",
      "/csi/csi.sock",
      "/mnt/kubelet/plugins/x/csi.sock",
      [
        CONTAINER,
        ["8:3", "/srv/kubelet/plugins/x", "/csi"],
        ["8:3", "/srv/kubelet/plugins_registry", "/registration"],
      ],
      FITS,
    ],
    [
      "the same, under another name",
      "/csi/csi.sock",
      "/mnt/other/plugins/x/csi.sock",
      [
        CONTAINER,
        ["8:3", "/srv/kubelet/plugins/x", "/csi"],
        ["8:3", "/srv/kubelet/plugins_registry", "/registration"],
      ],
      differs("/srv/kubelet/plugins/x/csi.sock"),
    ],
    [
      "a root that nobody knows, told as the default one",
      "/csi/csi.sock",
      `${K}/plugins/x/csi.sock`,
      [CONTAINER, ["8:3", "/data/k/plugins/x", "/csi"], ["8:3", "/data/k/plugins_registry", "/registration"]],
      FITS,
    ],
    [
      "the default root, told as one that nobody knows",
      "/csi/csi.sock",
      "/mnt/kubelet/plugins/x/csi.sock",
      [CONTAINER, ["8:1", `${K}/plugins/x`, "/csi"], ["8:1", `${K}/plugins_registry`, "/registration"]],
      differs(`${K}/plugins/x/csi.sock`),
    ],
    [
      "an emptyDir volume, by its path on the host",
      "/s/csi.sock",
      `${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s/csi.sock`,
      [
        CONTAINER,
        ["8:1", `${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s`, "/s"],
        ["8:1", `${K}/plugins_registry`, "/registration"],
      ],
      FITS,
    ],
    [
      "a container's layers for both",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [CONTAINER, ["0:51", "/", "/registration", "overlay"]],
      FITS,
    ],
    [
      "another path in a developer's container",
      "/csi/csi.sock",
      "/other/csi.sock",
      [CONTAINER],
      { kind: "unknown" },
    ],
    [
      "a mount table without the registration directory",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [["8:5", "/x", "/csi"]],
      differs("/x/csi.sock"),
    ],
    [
      "nor a file system of the host",
      "/csi/csi.sock",
      "/csi/csi.sock",
      [["0:50", "/", "/csi", "overlay"]],
      { kind: "unknown" },
    ],
    ["no mount table", "/csi/csi.sock", "/csi/csi.sock", [], { kind: "unknown" }],
    ["a relative path", "/csi/csi.sock", "csi.sock", [CONTAINER], { kind: "unknown" }],
  ],
)("%s: %s, kubelet is told %s", (_, csiSocketPath, kubeletRegistrationPath, rows, verdict) => {
  const mounts = tableOf(rows);
  expect(
    judgeHostPath({
      csiSocketPath,
      kubeletRegistrationPath,
      pluginRegistrationPath: "/registration",
      mounts,
    }),
  ).toEqual(verdict);
});

test("what differs comes with the flag to write", () => {
  expect(explainHostPath(differs("/h/csi.sock"))?.fix).toBe("--kubelet-registration-path=/h/csi.sock");
  expect(explainHostPath({ kind: "unknown" })).toBeUndefined();
  expect(explainHostPath(FITS)).toBeUndefined();
});

test.each<[HostPathVerdict, string, string]>([
  [{ kind: "empty-dir" }, "is in an emptyDir volume", "make that volume a hostPath"],
  [{ kind: "not-mounted", folder: "/csi" }, "nothing of the host is mounted at /csi", "mount the hostPath"],
])("%j is told with what to mount", (verdict, problem, fix) => {
  expect(explainHostPath(verdict)).toEqual({
    problem: expect.stringContaining(problem),
    fix: expect.stringContaining(fix),
  });
});
