import { type Check, ok, problem, unknown } from "../finding";
import { ownershipText, RUN_AS_ROOT } from "../words";

export const directoryWritable: Check = {
  code: "CSI009",
  name: "directory-writable",
  verdicts: ({ directory, host: { uid } }) => {
    if (directory.kind !== "folder") return undefined;
    const { path, unwritable, ownership } = directory;
    if (unwritable === undefined)
      return ok(path, `may be written to by us${uid === undefined ? "" : ` (user ID ${uid})`}`);
    if (unwritable === "EROFS")
      return problem(path, "is mounted read-only", "take readOnly off the volume mount");
    if (unwritable === "ENOSPC")
      return problem(
        path,
        "has no room for a socket, ENOSPC: its file system has no inode left",
        "remove what fills that file system: df -i has its inodes, a directory with very many files is the usual cause",
      );
    const text = `may not be written to by this user: ${unwritable} (user ID ${uid ?? "unknown"}; ${ownershipText(ownership)})`;
    // Where the directory is mounted by itself this is a container, and its user the registrar's. On a node it is not.
    return uid === 0 || directory.place?.isMountPoint
      ? problem(
          path,
          text,
          "run the registrar as root: runAsUser 0, with nothing that takes root's rights away",
        )
      : unknown(path, text, RUN_AS_ROOT);
  },
};
