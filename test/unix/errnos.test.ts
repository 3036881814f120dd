import fs from "node:fs";
import { errnoOf, systemError } from "../../src/base/errors";
import { failedBy } from "../../src/registrar/model/outcome";
import { shortageText } from "../../src/unix/descriptors";
import { listNames, realPathOf, whyNotFound } from "../../src/unix/files";
import { canHang, isLocal } from "../../src/unix/mounts";
import { socketUnusable } from "../../src/unix/socket-unusable";
import { explainConnectError, mayAccept } from "../../src/unix/unix-socket";

const ERRNOS = [
  ...[
    "EACCES",
    "EADDRINUSE",
    "EAGAIN",
    "EBADF",
    "ECONNREFUSED",
    "ECONNRESET",
    "EINVAL",
    "EIO",
    "ELOOP",
    "EMFILE",
  ],
  ...[
    "ENAMETOOLONG",
    "ENFILE",
    "ENOENT",
    "ENOMEM",
    "ENOSPC",
    "ENOTDIR",
    "ENOTSOCK",
    "EPERM",
    "EPIPE",
    "EROFS",
  ],
  ...["ESTALE", "ETIMEDOUT"],
];

test.each(ERRNOS)("what %s means", async (code) => {
  const error = systemError(code, `${code}: as made up, /r/.reg-abcde`);
  jest.spyOn(fs.promises, "readdir").mockRejectedValue(error);
  jest.spyOn(fs.promises, "realpath").mockImplementation(async (path) => {
    if (path !== "/") throw error;
    return "/";
  });
  const listed = await listNames("/r").catch(errnoOf);
  expect({
    listen: socketUnusable("/r/x.sock", error, "/r/.reg-abcde").message,
    connect: explainConnectError(error),
    mayAccept: mayAccept(error),
    shortage: shortageText(error),
    aFile: whyNotFound(error),
    names: typeof listed === "string" ? listed : "none",
    realPath: await realPathOf("/r/x").catch(errnoOf),
    outcome: Object(failedBy(error)).error.code,
  }).toMatchSnapshot();
});

test("which file systems can hang, and which are local", () => {
  const kinds = [
    ...[
      "9p",
      "afs",
      "autofs",
      "beegfs",
      "btrfs",
      "ceph",
      "cifs",
      "coda",
      "devtmpfs",
      "ext2",
      "ext3",
      "ext4",
      "f2fs",
    ],
    ...[
      "fuse",
      "fuse.sshfs",
      "fuseblk",
      "gpfs",
      "lustre",
      "nfs",
      "nfs4",
      "ocfs2",
      "orangefs",
      "overlay",
      "overlayfs",
    ],
    ...[
      "proc",
      "ramfs",
      "rootfs",
      "smb3",
      "smbfs",
      "squashfs",
      "sysfs",
      "tmpfs",
      "virtiofs",
      "xfs",
      "zfs",
      "mynfs",
    ],
  ];
  expect({
    canHang: kinds.filter((fileSystem) => canHang({ fileSystem })).join(" "),
    isLocal: kinds.filter((fileSystem) => isLocal({ fileSystem })).join(" "),
  }).toMatchSnapshot();
});
