import { mkdirSync, writeFileSync } from "node:fs";
import { mountPlaceOf, onFileSystem, parseMountinfo, plainPath, readMounts } from "../../src/unix/mounts";
import { createTempFolder } from "../support/temp-folder";

const CONTAINER = parseMountinfo(
  [
    "700 600 0:90 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/a:/b,upperdir=/c",
    "701 700 0:91 / /proc rw,nosuid - proc proc rw",
    "705 700 8:1 /var/lib/kubelet/plugins_registry /registration rw,relatime - ext4 /dev/sda1 rw",
    "706 700 8:2 /lib/kubelet/plugins/x.csi /csi ro,relatime shared:3 master:2 - xfs /dev/sdb rw",
    "707 700 8:3 / /with\\040space rw - ext4 /dev/sdc rw",
    "708 700 8:9 /over /csi rw - tmpfs tmpfs rw",
    "nonsense",
    "",
  ].join("\n"),
);

test.each([
  [
    "/registration",
    { path: "/var/lib/kubelet/plugins_registry", isMountPoint: true, isWholeFileSystem: false },
  ],
  ["/registration/sub", { path: "/var/lib/kubelet/plugins_registry/sub", isMountPoint: false }],
  ["/registrations", { fileSystem: "overlay", path: "/registrations", isMountPoint: false }],
  ["/with space/a", { fileSystem: "ext4", path: "/a", isWholeFileSystem: true }],
  ["/csi", { fileSystem: "tmpfs", path: "/over" }],
  ["/", { fileSystem: "overlay", path: "/", isMountPoint: true }],
])("%s in a container", (path, expected) => {
  expect(mountPlaceOf(path, CONTAINER)).toMatchObject(expected);
});

test("of two mounts the inner one counts, in either order", () => {
  const mounts = parseMountinfo("1 0 8:1 /a /csi rw - ext4 x rw\n2 0 8:2 / / rw - ext4 y rw");
  expect(mountPlaceOf("/csi/x", mounts)).toMatchObject({ path: "/a/x", device: "8:1", mountPoint: "/csi" });
});

test.each([
  "700 600  / /csi rw - ext4 x rw",
  "700 600 8:1  /csi rw - ext4 x rw",
  "700 600 8:1 /  rw - ext4 x rw",
  "700 600 8:1 / /csi rw -  x rw",
  "700 600 8:1 / /csi rw",
  "700 600 - ext4 x rw",
])("a line that lacks something is passed over: %s", (line) => {
  expect(parseMountinfo(line)).toEqual([]);
  expect(mountPlaceOf("/csi", [])).toBeUndefined();
});

test("the table is the same array until it changes, and undefined where it cannot be read", async () => {
  await using procfs = await createTempFolder();
  mkdirSync(procfs.at("self"));
  for (const mountPoint of ["/a", "/b"]) {
    writeFileSync(procfs.at("self/mountinfo"), `1 0 8:1 / ${mountPoint} rw - ext4 x rw`);
    expect(readMounts(procfs.path)).toMatchObject([{ mountPoint }]);
    expect(readMounts(procfs.path)).toBe(readMounts(procfs.path));
  }
  expect(readMounts("/nowhere")).toBeUndefined();
});

test("a path's place on its file system is said where it is another path", () => {
  const texts = [undefined, "/a", "/data/a"].map((onHost) => onFileSystem("/a", onHost));
  expect(texts).toEqual(["", "", " (/data/a on its file system)"]);
});

test("a path is made plain, and none stays none", () => {
  expect(["", "/", "//", "/a//b/./c/", "a/"].map(plainPath)).toEqual(["", "/", "/", "/a/b/c", "a"]);
});
