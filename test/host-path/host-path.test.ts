import fs, { symlinkSync } from "node:fs";
import { systemError } from "../../src/base/errors";
import { type HostPathVerdict, judgeByMounts, judgeHostPath } from "../../src/host-path/host-path";
import {
  CONTAINER,
  judgeByRows,
  K,
  kubeletAt,
  podWith,
  REGISTRATION,
  type Row,
  tableOf,
  USUAL,
} from "../support/mount-rows";
import { createTempFolder } from "../support/temp-folder";

const FITS: HostPathVerdict = { kind: "fits" };
const UNKNOWN: HostPathVerdict = { kind: "unknown" };
const wrong = (problem: string, fix: string): HostPathVerdict => ({ kind: "wrong", problem, fix });
const EMPTY_DIR = wrong(
  "the driver's socket is in an emptyDir volume: its host path changes with each pod",
  `make that volume a hostPath: ${K}/plugins/NAME`,
);
const NOT_MOUNTED = wrong(
  "no directory of the host is mounted at /csi",
  `mount the hostPath ${K}/plugins/NAME there, in this container and in the driver's`,
);
const write = (path: string) => `write --kubelet-registration-path=${path}`;
const differs = (path: string): HostPathVerdict => ({
  ...{ kind: "wrong", problem: `on the host the driver's socket is ${path}` },
  ...{ fix: write(path), path },
});
const onDisk = (path: string, inKubeletRoot?: string) =>
  wrong(
    `on its disk the driver's socket is ${path}`,
    write(inKubeletRoot ? `<kubelet root>${inKubeletRoot}` : `<where the host mounts that disk>${path}`),
  );

/** The usual socket in the container, and the same on the host. */
const C = "/csi/csi.sock";
const X = `${K}/plugins/x/csi.sock`;

/** Socket here, the path that kubelet gets, mounts. The registration directory is at /registration. */
type Case = readonly [what: string, csi: string, path: string, rows: readonly Row[], HostPathVerdict];

// biome-ignore format: a table
const ON_THE_HOSTS_ROOT: readonly Case[] = [
  ["the usual container", C, X, USUAL, FITS],
  ["the path of the container, told to kubelet", "/csi/x.sock", "/csi/x.sock", USUAL,
    differs(`${K}/plugins/x/x.sock`)],
  ["another folder under plugins", C, `${K}/plugins/y/csi.sock`, USUAL, differs(X)],
  ["equal paths, mounted at the same place on both sides", X, X, podWith(`8:1 ${K} ${K}`), FITS],
  ["microk8s, told the default root", C, C, kubeletAt("/var/snap/microk8s/common/var/lib/kubelet", "8:1"),
    differs("/var/snap/microk8s/common/var/lib/kubelet/plugins/x/csi.sock")],
  ["k0s", C, "/var/lib/k0s/kubelet/plugins/x/csi.sock", kubeletAt("/var/lib/k0s/kubelet", "8:1"), FITS],
  ["a subPath of the volume", C, `${K}/plugins/csi.sock`, podWith(`8:1 ${K}/plugins/x/sub /csi`),
    differs(`${K}/plugins/x/sub/csi.sock`)],
  ["a mount inside of a mount: the inner one counts", "/host/plugins/x/csi.sock", X,
    podWith(`8:1 ${K} /host`, "8:1 /srv/x /host/plugins/x"), differs("/srv/x/csi.sock")],
  ["the whole host under /host", `/host${K}/plugins/x/csi.sock`, `/host${K}/plugins/x/csi.sock`,
    podWith("8:1 / /host"), differs(X)],
  ["a pattern for all drivers", "/plugins/*/csi.sock", "/plugins/*/csi.sock",
    podWith(`8:1 ${K}/plugins /plugins`), differs(`${K}/plugins/*/csi.sock`)],
  ["an emptyDir volume", C, C, podWith(`8:1 ${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s /csi`),
    EMPTY_DIR],
  ["no volume at all", C, X, [CONTAINER, REGISTRATION], NOT_MOUNTED],
  ["a developer's container, with nothing mounted", "/tmp/a.sock", "/tmp/a.sock", [CONTAINER], FITS],
  ["a node, outside of containers", `${K}/plugins/x/s`, `${K}/plugins/x/s`, ["8:1 / /"], FITS],
  ["a file system that is all of the mount", C, C, podWith("0:9 / /csi tmpfs"), UNKNOWN],
  ["slashes that are doubled", C, `${K}//plugins/x/csi.sock`, USUAL, FITS],
  ["the default root, told as one that nobody knows", C, "/mnt/kubelet/plugins/x/csi.sock", USUAL,
    differs(X)],
  ["an emptyDir volume, by its path on the host", "/s/csi.sock",
    `${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s/csi.sock`,
    podWith(`8:1 ${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s /s`), FITS],
  ["a container's layers for both", C, C, [CONTAINER, "0:51 / /registration overlay"], FITS],
  ["another path in a developer's container", C, "/other/csi.sock", [CONTAINER], UNKNOWN],
  ["nor a file system of the host", C, C, ["0:50 / /csi overlay"], UNKNOWN],
  ["the whole root of the host, told by the container's path", "/host/srv/x/csi.sock", "/host/srv/x/csi.sock",
    podWith("8:1 / /host"), differs("/srv/x/csi.sock")],
  ["one known root, told as another: it may be a link", C, "/var/lib/k0s/kubelet/plugins/x/csi.sock", USUAL,
    UNKNOWN],
  ["a node, told a path that is not the driver's", "/srv/x/csi.sock", "/srv/y/csi.sock", ["8:1 / /"],
    differs("/srv/x/csi.sock")],
  ["a container's layer, told a longer path", C, "/x/csi/csi.sock", [CONTAINER], UNKNOWN],
  ["no mount table", C, C, [], UNKNOWN],
  ["a relative path", C, "csi.sock", USUAL, UNKNOWN],
];

/** Kubelet's root is on a disk of its own, or may be. */
// biome-ignore format: a table
const ON_A_DISK: readonly Case[] = [
  ["/var is a file system of its own on the host", C, C, kubeletAt("/lib/kubelet", "8:2"),
    onDisk("/lib/kubelet/plugins/x/csi.sock", "/plugins/x/csi.sock")],
  ["the same, told rightly", C, X, kubeletAt("/lib/kubelet", "8:2"), FITS],
  ["kubelet's root is a link, or a bind mount, on the host", C, X, kubeletAt("/data/kubelet", "8:3"),
    UNKNOWN],
  ["a root that nobody knows", C, C, kubeletAt("/data/k", "8:3"),
    onDisk("/data/k/plugins/x/csi.sock", "/plugins/x/csi.sock")],
  ["the node is a container itself", C, C, kubeletAt("/var/lib/docker/volumes/1/_data/lib/kubelet", "8:1"),
    onDisk("/var/lib/docker/volumes/1/_data/lib/kubelet/plugins/x/csi.sock", "/plugins/x/csi.sock")],
  ["the driver's file system, mounted somewhere on the host", C, "/mnt/data/x/csi.sock",
    podWith("8:5 /x /csi"), FITS],
  ["another file system than kubelet's root", C, C,
    [CONTAINER, "8:5 /x /csi", "8:2 /lib/kubelet/plugins_registry /registration"], onDisk("/x/csi.sock")],
  ["a driver outside of kubelet's root, both on /var", C, C,
    [CONTAINER, "8:2 /srv/x /csi", "8:2 /lib/kubelet/plugins_registry /registration"],
    onDisk("/srv/x/csi.sock")],
  ["kubelet's root is a file system of its own", C, `${K}plugins/x/csi.sock`, kubeletAt("", "8:4"),
    onDisk("/plugins/x/csi.sock", "/plugins/x/csi.sock")],
  ["/var/lib is a file system of its own on the host", C, C, kubeletAt("/kubelet", "8:2"),
    onDisk("/kubelet/plugins/x/csi.sock", "/plugins/x/csi.sock")],
  ["a root that nobody knows, which the host mounts elsewhere", C, "/mnt/kubelet/plugins/x/csi.sock",
    kubeletAt("/srv/kubelet", "8:3"), UNKNOWN],
  ["the same, under another name", C, "/mnt/other/plugins/x/csi.sock", kubeletAt("/srv/kubelet", "8:3"),
    onDisk("/srv/kubelet/plugins/x/csi.sock", "/plugins/x/csi.sock")],
  ["a root that nobody knows, told as the default one", C, X, kubeletAt("/data/k", "8:3"), UNKNOWN],
  ["a mount table without the registration directory", C, C, ["8:5 /x /csi"], onDisk("/x/csi.sock")],
  ["a disk with the end of Tanzu's root, told as that", C, "/var/vcap/data/kubelet/plugins/x/csi.sock",
    kubeletAt("/data/kubelet", "8:3"), FITS],
  ["the same, by its path on the disk, which may be the host's root", C, "/data/kubelet/plugins/x/csi.sock",
    kubeletAt("/data/kubelet", "8:3"), FITS],
  ["the same, and another mount shows that it is the host's root", C, C,
    [...kubeletAt("/data/kubelet", "8:3"), `8:3 ${K}/pods/1-2/etc-hosts /etc/hosts`],
    differs("/data/kubelet/plugins/x/csi.sock")],
  ["kubelet's root is a disk of its own, told rightly", C, "/mnt/k/plugins/x/csi.sock", kubeletAt("", "8:4"),
    FITS],
  ["the same, with a pattern and the path of the container", "/plugins/*/csi.sock", "/plugins/*/csi.sock",
    [CONTAINER, "8:4 /plugins /plugins", "8:4 /plugins_registry /registration"],
    onDisk("/plugins/*/csi.sock", "/plugins/*/csi.sock")],
  ["a disk with the path of a known root on it", C, `/data${K}/plugins/x/csi.sock`, USUAL, FITS],
  ["a disk that the host and the container mount alike", "/data/x/csi.sock", "/data/x/csi.sock",
    podWith("8:5 /x /data/x"), FITS],
  ["a whole disk, and a folder of it", "/data/x/csi.sock", "/other/csi.sock", podWith("8:5 / /data"),
    onDisk("/x/csi.sock")],
  ["a container that has kubelet's root elsewhere", "/host/plugins/x/csi.sock", "/host/plugins/x/csi.sock",
    [CONTAINER, `8:1 ${K} /host`], differs(X)],
  ["a registration directory that is not called as kubelet's is", C, C,
    [CONTAINER, "8:3 /k/plugins/x /csi", "8:3 /k/other /registration"], onDisk("/k/plugins/x/csi.sock")],
];

const ON_SUBVOLUMES: readonly Row[] = ["0:30 /@ /", "0:30 /@/home /home"];

/** The host's root is a subvolume, whose name is before each path of the file system. */
// biome-ignore format: a table
const ON_A_SUBVOLUME: readonly Case[] = [
  ["a subvolume that the host has at /", C, X, kubeletAt(`/@${K}`, "0:30"), FITS],
  ["the same, told wrongly", C, C, kubeletAt(`/@${K}`, "0:30"), differs(X)],
  ["a subvolume with a root that ends as another does", C, C,
    kubeletAt("/@/var/snap/microk8s/common/var/lib/kubelet", "0:30"),
    differs("/var/snap/microk8s/common/var/lib/kubelet/plugins/x/csi.sock")],
  ["a subvolume that the host has at /, the driver outside of kubelet's root", C, "/srv/x/csi.sock",
    [CONTAINER, "0:30 /@/srv/x /csi", `0:30 /@${K}/plugins_registry /registration`], FITS],
  ["the same, told wrongly", C, C,
    [CONTAINER, "0:30 /@/srv/x /csi", `0:30 /@${K}/plugins_registry /registration`],
    differs("/srv/x/csi.sock")],
  ["another subvolume than kubelet's", C, C,
    [CONTAINER, "0:30 /@srv/x /csi", `0:30 /@${K}/plugins_registry /registration`], onDisk("/@srv/x/csi.sock")],
  ["a container whose root is a subvolume", C, C, ["0:30 /snapshots/7 /", "0:30 /x /csi", REGISTRATION],
    onDisk("/x/csi.sock")],
  ["a node on a subvolume, outside of containers", "/srv/x.sock", "/srv/x.sock", ON_SUBVOLUMES, FITS],
  ["the same, in another subvolume", "/home/me/x.sock", "/home/me/x.sock", ON_SUBVOLUMES, FITS],
  ["the same, told wrongly", "/home/me/x.sock", "/home/x.sock", ON_SUBVOLUMES, differs("/home/me/x.sock")],
  ["a node with a folder that is mounted twice", "/srv/x/csi.sock", "/srv/x/csi.sock",
    ["8:1 / /", "8:1 /data/x /srv/x"], FITS],
];

test.each([...ON_THE_HOSTS_ROOT, ...ON_A_DISK, ...ON_A_SUBVOLUME])(
  "%s: %s, kubelet gets %s",
  (_, csiSocketPath, endpoint, rows, verdict) => {
    expect(judgeByRows(csiSocketPath, endpoint, rows)).toEqual(verdict);
  },
);

test("a mount table without a root does not throw", () => {
  const mounts = tableOf([`8:1 ${K} /kubelet`, "8:5 /x /csi"]);
  const pluginRegistrationPath = "/kubelet/plugins_registry";
  const paths = { csiSocketPath: C, endpoint: C, pluginRegistrationPath };
  expect(judgeHostPath({ ...paths, mounts })).toEqual(FITS);
});

const PATTERN = "/plugins/*/csi.sock";
const TOLD = `${K}/plugins/*/csi.sock`;

// biome-ignore format: a table
test.each<[what: string, path: string, rows: readonly Row[], verdict: string]>([
  ["all drivers", TOLD, podWith(`8:1 ${K}/plugins /plugins`), "fits"],
  ["all drivers, by the container's path", PATTERN, podWith(`8:1 ${K}/plugins /plugins`), write(TOLD)],
  ["each driver's folder", TOLD, podWith(`8:1 ${K}/plugins/disk /plugins/disk`), "unknown"],
  ["all drivers, and one", TOLD, podWith(`8:1 ${K}/plugins /plugins`, "8:1 /x /plugins/disk"), "unknown"],
  ["another directory, and one driver", TOLD, podWith("8:1 /x /plugins", "8:1 /y /plugins/disk"), write("/x/*/csi.sock")],
  ["nothing", TOLD, [CONTAINER, REGISTRATION], `mount the hostPath ${K}/plugins/NAME there`],
])("mounted is %s: kubelet gets %s", async (_, endpoint, rows, expected) => {
  const paths = { csiSocketPath: PATTERN, endpoint, pluginRegistrationPath: "/registration" };
  const verdict = await judgeByMounts(paths, tableOf(rows));
  expect(verdict.kind === "wrong" ? verdict.fix : verdict.kind).toContain(expected);
});

test("a driver in this process, or a relative path, gives no verdict", async () => {
  const paths = { endpoint: C, pluginRegistrationPath: "/registration" };
  for (const csiSocketPath of [undefined, "csi.sock"])
    expect(await judgeByMounts({ ...paths, csiSocketPath }, tableOf(USUAL))).toEqual(UNKNOWN);
});

test("a path that cannot be followed, or a mount table that cannot be read, gives no verdict", async () => {
  await using folder = await createTempFolder();
  symlinkSync("loop", folder.at("loop"));
  const paths = { csiSocketPath: C, endpoint: C, pluginRegistrationPath: "/registration" };
  for (const one of ["csiSocketPath", "pluginRegistrationPath"])
    expect(await judgeByMounts({ ...paths, [one]: folder.at("loop/x") }, tableOf(USUAL))).toEqual(UNKNOWN);
  jest.spyOn(fs, "readFileSync").mockImplementation(() => {
    throw systemError("EACCES");
  });
  expect(await judgeByMounts(paths)).toEqual(UNKNOWN);
});
